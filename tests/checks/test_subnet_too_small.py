"""GK3001: a subnet has fewer addresses than its nodes need."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_subnet_too_small_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3001")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.cidr"
    assert finding.problem == "10.0.0.0/22 has no room left for public-us-east-1a: 1 addresses are needed there"
    assert finding.fix == "use a larger block, such as 10.0.0.0/16"
