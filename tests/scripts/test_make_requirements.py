"""The list of requirements that is pinned: extras that name gpukit itself are followed, never written."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "make_requirements.py"
PROJECT = {
    "dependencies": ["pydantic>=2"],
    "optional-dependencies": {
        "pulumi": ["pulumi>=3"],
        "sandbox": ["gpukit[pulumi, policy]", "moto>=5"],
        "policy": ["gpukit[pulumi]", "pulumi-policy>=1"],
        "loop": ["gpukit[loop]", "ruff"],
    },
}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_requirements", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        pytest.param((), ["pydantic>=2"], id="the core alone"),
        pytest.param(("pulumi",), ["pulumi>=3", "pydantic>=2"], id="one extra"),
        pytest.param(("sandbox",), ["moto>=5", "pulumi-policy>=1", "pulumi>=3", "pydantic>=2"], id="extras of extras"),
        pytest.param(("loop",), ["pydantic>=2", "ruff"], id="an extra that names itself"),
    ],
)
def test_extras_are_followed(script: ModuleType, extras: tuple[str, ...], expected: list[str]) -> None:
    assert script.list_requirements(PROJECT, extras) == expected


def test_an_extra_that_does_not_exist_is_a_mistake_of_the_script(script: ModuleType) -> None:
    with pytest.raises(KeyError, match="gpu"):
        script.list_requirements(PROJECT, ("gpu",))


def test_a_failed_run_leaves_the_file_as_it_was(script: ModuleType, tmp_path: Path) -> None:
    target = tmp_path / "requirements-dev.txt"
    target.write_text("kept\n", encoding="utf-8")

    assert script.write_requirements(target, ["not a requirement !"], upgrade=False) != 0
    assert target.read_text(encoding="utf-8") == "kept\n"
