"""The policy pack, imported as the engine does: from its own folder."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pulumi_policy")

PACK = Path(__file__).resolve().parents[2] / "policy"
if str(PACK) not in sys.path:
    sys.path.insert(0, str(PACK))


@dataclass(slots=True)
class Resource:
    """What the policy SDK hands over for one resource, as far as the pack looks at it."""

    resource_type: str
    name: str
    props: Any
    parent: Any = None
    property_dependencies: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def urn(self) -> str:
        return f"urn:pulumi:dev::research::{self.resource_type}::{self.name}"


@pytest.fixture(scope="session")
def violations() -> Callable[..., list[tuple[str, str | None]]]:
    """Run one policy of the pack over resources, and return what it reports: text and URN."""
    from gpukit_policies import make_policies
    from pulumi_policy import StackValidationArgs

    policies = {policy.name[:6].upper(): policy for policy in make_policies()}

    def run(code: str, *resources: Any) -> list[tuple[str, str | None]]:
        found: list[tuple[str, str | None]] = []
        args = StackValidationArgs(list(resources), config={"today": "2026-12-01"})
        validate: Any = policies[code].validate
        validate(args, lambda text, urn=None: found.append((text, urn)))
        return found

    return run
