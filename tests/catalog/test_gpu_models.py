"""GPU models: rates, power, cooling, MIG profiles, precisions."""

import pytest

from gpukit.catalog import Catalog, load_catalog
from gpukit.catalog.hardware import GpuModel

each_model = pytest.mark.parametrize("gpu", [pytest.param(row, id=row.model) for row in load_catalog().gpu_models()])


@each_model
def test_power_and_cooling_are_known(gpu: GpuModel) -> None:
    assert gpu.tdp_w is not None
    assert 50 <= gpu.tdp_w <= 1500
    assert gpu.cooling
    assert set(gpu.cooling) <= {"air", "liquid"}
    assert gpu.liquid_only == (gpu.cooling == ("liquid",))


@each_model
def test_precisions_agree_with_the_rates(gpu: GpuModel) -> None:
    rates = {
        "bf16": gpu.dense_bf16_tflops,
        "fp8": gpu.dense_fp8_tflops,
        "fp4": gpu.dense_fp4_tflops,
    }
    for precision, rate in rates.items():
        if rate is None:
            assert gpu.doubts, f"{precision} unknown without a word"
        else:
            assert (rate > 0) == (precision in gpu.precisions), precision


@each_model
def test_mig_profiles_fit(gpu: GpuModel) -> None:
    assert len(gpu.mig_profiles) == len(gpu.mig_counts)
    assert gpu.mig or not gpu.mig_profiles
    if gpu.mig:
        assert gpu.mig_max_instances is not None
        assert all(1 <= count <= gpu.mig_max_instances for count in gpu.mig_counts)
        assert gpu.mig_profiles or "MIG profile names not found" in gpu.doubts


@each_model
def test_kernel_modules_follow_the_generation(gpu: GpuModel) -> None:
    """The open modules need a processor on the GPU that came with Turing."""
    assert (gpu.open_kernel_modules == "no") == (gpu.architecture in {"Kepler", "Volta"})


@each_model
def test_nvlink_is_described_whole_or_not_at_all(gpu: GpuModel) -> None:
    assert (gpu.interconnect == "NVLink") == (gpu.nvlink_generation is not None)


def test_precisions_grow_with_the_generations(catalog: Catalog) -> None:
    assert "bf16" not in catalog.gpu_model("V100-32").precisions
    assert "bf16" in catalog.gpu_model("A100-80").precisions
    assert "fp8" in catalog.gpu_model("H100").precisions
    assert "fp4" in catalog.gpu_model("B200").precisions


def test_mig_counts_are_found_by_profile(catalog: Catalog) -> None:
    gpu = catalog.gpu_model("H100")

    assert gpu.mig_count("1g.10gb") == 7
    assert gpu.mig_count("3g.40gb") == 2
    assert gpu.mig_count("9g.90gb") is None


def test_rack_scale_gpus_are_liquid_cooled_only(catalog: Catalog) -> None:
    assert {gpu.model for gpu in catalog.gpu_models() if gpu.liquid_only} == {"GB200", "GB300"}
