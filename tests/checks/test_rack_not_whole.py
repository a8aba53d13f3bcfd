"""GK2024: an UltraServer pool that is not a whole number of racks."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_rack_not_whole_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2024")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.nodes"
    assert finding.problem == "20 nodes are no whole number of u-p6e-gb200x72 (each 18 instances)"
    assert finding.fix == "use 36 nodes, which are 2 racks"
