"""GK2014: spot nodes with EFA."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_spot_with_efa_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2014")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.capacity"
    assert finding.problem == "the pool `train` asks for EFA over spot nodes"
    assert finding.fix == "use on-demand or reserved nodes for jobs over several nodes, or set `efa: false`"
