"""GK2023: EFA asked for in a pool of one node."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_efa_with_one_node_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2023")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.efa"
    assert finding.problem == "the pool `train` has one node, and EFA has nobody to talk to"
    assert finding.fix == "remove `efa: true`, or add nodes"
