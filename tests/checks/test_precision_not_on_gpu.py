"""GK5003: a training precision that the GPU does not compute in."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_precision_not_on_gpu_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK5003")

    assert finding.severity is Severity.WARNING
    assert finding.path == "workload.precision"
    assert finding.problem == "`bf16` is no precision of T4 (pool `train`)"
    assert finding.fix == "use one of fp32, fp16, or a GPU that has it"
