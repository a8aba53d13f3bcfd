"""GK3004: a port of the nodes is open to the whole internet."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_port_open_to_world_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3004")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.ports[0]"
    assert finding.problem == "tcp 8888 (Jupyter) is open to 0.0.0.0/0"
    assert finding.fix == (
        "name the network that needs it; for shells and notebooks use a Session Manager port forward"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
network: {ports: [{port: 1, to_port: 1024, cidr: 0.0.0.0/0}]}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="range-that-holds-ssh",
        ),
    ],
)
def test_port_open_to_world_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK3004" in codes_of(text)
