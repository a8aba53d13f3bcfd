"""What all tests share: golden files, and how hard property tests look."""

import os
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("default", derandomize=True, deadline=None, max_examples=50)
hypothesis.settings.register_profile("fuzz", deadline=None, max_examples=5000, print_blob=True)
hypothesis.settings.load_profile("default")

GOLDEN = Path(__file__).parent / "golden"
GOLDEN_SWITCH = "GPUKIT_GOLDEN"
"""`make golden` sets it to `write`; `--update-golden` is the same for one run of pytest."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files from what comes out now")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-golden"):
        os.environ[GOLDEN_SWITCH] = "write"
    elif os.environ.get(GOLDEN_SWITCH) == "write":
        config.option.update_golden = True


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with `tests/golden/<name>`, or write it there under `make golden`."""

    def compare(name: str, actual: str) -> None:
        path = GOLDEN / name
        if os.environ.get(GOLDEN_SWITCH) == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8")
            return
        if not path.is_file():
            pytest.fail(f"tests/golden/{name} does not exist: run `make golden`, read it, commit it")
        expected = path.read_text(encoding="utf-8")

        assert expected == actual, f"tests/golden/{name} differs: run `make golden`, then review the difference"

    return compare
