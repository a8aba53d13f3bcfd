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


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compare a text with `tests/golden/<name>`, or write it there under `make golden`."""

    def compare(name: str, actual: str) -> None:
        path = GOLDEN / name
        if os.environ.get("GPUKIT_GOLDEN") == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8")
            return
        if not path.is_file():
            pytest.fail(f"tests/golden/{name} does not exist: run `make golden`, read it, commit it")
        expected = path.read_text(encoding="utf-8")
        if expected != actual:
            # pytest's own difference of two long texts is cut; this one says what to do as well.
            assert expected.splitlines() == actual.splitlines(), f"tests/golden/{name}: `make golden` writes it again"
            pytest.fail(f"tests/golden/{name} differs in line ends only")

    return compare
