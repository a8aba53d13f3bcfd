"""GK2044: more pods a node than it has addresses for."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_pods_beyond_addresses_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2044")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.node.kubelet.max_pods"
    assert finding.problem == "250 pods on g6e.xlarge, which carries 110"
    assert finding.fix == "use at most 110"
