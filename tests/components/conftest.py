"""The one recorder that all component tests share."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("pulumi_aws")

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent.parent / "components"):
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))

from recorder import Recorder, record  # noqa: E402 - the folder of the tests is not a package


@pytest.fixture
def recorded() -> Callable[..., Recorder]:
    """Run a program on the recording engine: `recorded(lambda: build(plan))`."""
    return record
