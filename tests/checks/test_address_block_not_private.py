"""GK3011: a VPC block made of public addresses."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_address_block_not_private_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3011")

    assert finding.severity is Severity.WARNING
    assert finding.path == "network.cidr"
    assert finding.problem == "52.94.0.0/16 is not a private block"
    assert finding.fix == "use one of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10"
