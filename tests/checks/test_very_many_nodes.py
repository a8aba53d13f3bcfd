"""GK2046: more nodes than an EKS cluster carries without talking to AWS."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_very_many_nodes_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2046")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools"
    assert finding.problem == "1,200 nodes in one cluster; EKS carries about 1,000 without arrangement"
    assert finding.fix == "talk to AWS before the day it starts, or split it into several clusters"
