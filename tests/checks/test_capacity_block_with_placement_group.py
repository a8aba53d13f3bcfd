"""GK2011: a placement group named for a Capacity Block."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_capacity_block_with_placement_group_is_told_with_both_values_and_a_fix(
    example_of: Callable[[str], Finding],
) -> None:
    finding = example_of("GK2011")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.placement_group"
    assert finding.problem == "`fast` is named for a pool in a Capacity Block"
    assert finding.fix == "remove it"
