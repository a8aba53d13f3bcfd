"""GK3003: the Kubernetes API is open to the whole internet."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_endpoint_open_to_world_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3003")

    assert finding.severity is Severity.ERROR
    assert finding.path == "access.public_endpoint_cidrs[0]"
    assert finding.problem == "0.0.0.0/0 lets 4,294,967,296 addresses reach the Kubernetes API"
    assert finding.fix == "list the networks of your offices or VPN, or leave it out: the endpoint is then private"
