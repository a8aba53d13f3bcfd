"""GK3012: nodes have no way out of their network."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_no_way_out_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3012")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.nat_gateways"
    assert finding.problem == "egress goes by NAT, and there are 0 NAT gateways"
    assert finding.fix == "use `nat_gateways: 1`, or `egress: endpoints`"
