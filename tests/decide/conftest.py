"""One catalogue for all decision tests, and a short way to plan."""

from collections.abc import Callable
from typing import Any

import pytest

from gpukit.catalog import Catalog, load_catalog
from gpukit.plan import Plan
from gpukit.planning import plan_from_mapping

Planner = Callable[..., Plan]


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return load_catalog()


@pytest.fixture
def plan() -> Planner:
    def make(mapping: dict[str, Any], **options: Any) -> Plan:
        result = plan_from_mapping(mapping, **options)
        assert result.findings == (), [f"{f.path}: {f.problem}" for f in result.findings]
        assert result.plan is not None
        return result.plan

    return make
