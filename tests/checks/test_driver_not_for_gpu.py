"""GK5005: a driver that does not run this generation of GPU."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_driver_not_for_gpu_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK5005")

    assert finding.severity is Severity.ERROR
    assert finding.path == "images.training.driver"
    assert finding.problem == "driver 535 does not run B200 (pool `train`): it needs 570 or later"
    assert finding.fix == "use 570, or leave `driver` out"
