"""GK3010: the existing VPC has no subnet in a zone that is needed."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_existing_network_without_zone_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3010")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.zones"
    assert finding.problem == "`network.existing` names no subnet in us-east-1c; it has us-east-1a, us-east-1b"
    assert finding.fix == "add `us-east-1c: subnet-...` under `network.existing.subnets`"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
network:
  existing:
    vpc_id: vpc-0123456789abcdef0
    subnets: {us-east-1a: subnet-0123456789abcdef0}
pools:
  train: {instance_type: p5en.48xlarge, nodes: 2, zones: [us-east-1a]}
""",
            id="one-zone-for-a-cluster",
        ),
    ],
)
def test_existing_network_without_zone_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK3010" in codes_of(text)
