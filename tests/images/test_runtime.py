"""The module that is baked into images: number formats by environment and by GPU."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2] / "runtime"


@pytest.fixture
def runtime(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    for name in [name for name in sys.modules if name.startswith("gpukit_runtime")]:
        monkeypatch.delitem(sys.modules, name)
    import gpukit_runtime

    return gpukit_runtime


@pytest.mark.parametrize(
    ("capability", "precision", "scaling", "last"),
    [
        pytest.param((7, 0), "fp16", True, "fp16", id="V100"),
        pytest.param((7, 5), "fp16", True, "fp16", id="T4"),
        pytest.param((8, 0), "bf16", False, "bf16", id="A100"),
        pytest.param((8, 6), "bf16", False, "bf16", id="A10G"),
        pytest.param((8, 9), "bf16", False, "fp8", id="L4"),
        pytest.param((9, 0), "bf16", False, "fp8", id="H100"),
        pytest.param((10, 0), "bf16", False, "fp4", id="B200"),
        pytest.param((10, 3), "bf16", False, "fp4", id="B300"),
        pytest.param((12, 0), "bf16", False, "fp4", id="RTX PRO 6000"),
        pytest.param((3, 7), "fp32", False, "fp32", id="K80"),
        pytest.param(None, "fp32", False, "fp32", id="no GPU"),
    ],
)
def test_formats_follow_the_gpu(runtime, capability, precision, scaling, last) -> None:
    found = runtime.decide({}, capability)

    assert (found.training_precision, found.loss_scaling, found.precisions[-1]) == (precision, scaling, last)


def test_the_runtime_agrees_with_the_manifest(runtime) -> None:
    from gpukit.images.manifest import load_manifest

    for row in load_manifest().gpus:
        capability = tuple(int(part) for part in row.compute_capability.split("."))
        found = runtime.decide({}, capability)
        assert found.training_precision == row.training_precision, row.gpu_model
        assert found.loss_scaling == row.loss_scaling, row.gpu_model
        assert found.precisions == row.precisions, row.gpu_model


def test_the_environment_wins_where_the_gpu_can_do_it(runtime) -> None:
    found = runtime.decide({"GPUKIT_TRAINING_PRECISION": "fp16", "GPUKIT_PRECISIONS": "fp32,fp16"}, (9, 0))

    assert (found.training_precision, found.loss_scaling, found.precisions) == ("fp16", True, ("fp32", "fp16"))


def test_the_gpu_wins_where_it_cannot_do_what_the_environment_says(runtime) -> None:
    found = runtime.decide({"GPUKIT_TRAINING_PRECISION": "bf16", "GPUKIT_LOSS_SCALING": "0"}, (7, 0))

    assert (found.training_precision, found.loss_scaling) == ("fp16", True)


def test_an_image_for_hopper_on_an_ampere_gpu_drops_fp8(runtime) -> None:
    environment = {"GPUKIT_TRAINING_PRECISION": "bf16", "GPUKIT_PRECISIONS": "fp32,tf32,fp16,bf16,fp8"}

    assert "fp8" not in runtime.decide(environment, (8, 0)).precisions


def test_fp8_needs_both_gpu_and_library(runtime) -> None:
    assert runtime.fp8_recipe(runtime.decide({}, (8, 0))) is None
    assert runtime.fp8_recipe(runtime.decide({}, (9, 0))) is None, "transformer_engine is not installed here"


def test_it_imports_nothing_but_the_standard_library() -> None:
    for path in (ROOT / "gpukit_runtime").glob("*.py"):
        top = [node for node in ast.parse(path.read_text()).body if isinstance(node, (ast.Import, ast.ImportFrom))]
        names = {
            (node.module if isinstance(node, ast.ImportFrom) else node.names[0].name).split(".")[0] for node in top
        }
        assert names <= sys.stdlib_module_names | {"gpukit_runtime"}
