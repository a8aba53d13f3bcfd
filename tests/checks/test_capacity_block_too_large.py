"""GK2030: one Capacity Block for more instances than a block holds."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_capacity_block_too_large_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2030")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.capacity.reservations[0].nodes"
    assert finding.problem == "one block of 128 instances for pool `train`; a block holds at most 64"
    assert finding.fix == "list 2 reservations of at most 64 nodes each"
