"""GK3015: a range of ports that ends before it begins."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_port_range_reversed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3015")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.ports[0].to_port"
    assert finding.problem == "the range begins at 9100 and ends at 9090"
    assert finding.fix == "write `port: 9090, to_port: 9100`, or leave `to_port` out for one port"


@pytest.mark.parametrize(
    "port",
    [
        pytest.param("{port: 9100, cidr: 10.20.0.0/16}", id="one-port"),
        pytest.param("{port: 9100, to_port: 9100, cidr: 10.20.0.0/16}", id="a-range-of-one"),
        pytest.param("{port: 8, to_port: 0, protocol: icmp, cidr: 10.20.0.0/16}", id="icmp-type-and-code"),
    ],
)
def test_port_range_reversed_is_not_seen_where_there_is_none(port: str, codes_of: Callable[[str], set[str]]) -> None:
    text = f"region: us-east-1\nnetwork: {{ports: [{port}]}}\npools:\n  train: {{instance_type: g6e.xlarge}}\n"

    assert "GK3015" not in codes_of(text)
