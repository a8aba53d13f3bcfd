"""GK1027: a pool's fewest nodes are more than its most."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_node_bounds_reversed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1027")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.nodes"
    assert finding.problem == "min 4 is above max 2"
    assert finding.fix == "write `nodes: {min: 2, max: 4}`"
