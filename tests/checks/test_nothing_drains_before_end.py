"""GK7008: a Capacity Block ends before jobs can save their state."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_nothing_drains_before_end_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK7008")

    assert finding.severity is Severity.WARNING
    assert finding.path == "storage"
    assert finding.problem == "the block of `train` ends, and no store keeps what its jobs have learnt"
    assert finding.fix == "add a store of kind lustre, efs or s3 for checkpoints"
