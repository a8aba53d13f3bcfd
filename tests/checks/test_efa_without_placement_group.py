"""GK2045: on-demand nodes with EFA and no placement group."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_efa_without_placement_group_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2045")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.placement_group"
    assert finding.problem == "4 on-demand nodes with EFA and `placement_group: none`"
    assert finding.fix == "remove it (a group of the pool's own is made), or accept this code with the reason"
