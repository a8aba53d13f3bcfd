"""GK3002: address blocks that overlap, or of a size that a VPC does not take."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_address_blocks_overlap_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3002")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.pod_cidr"
    assert finding.problem == "the pod block 10.0.128.0/17 overlaps the VPC's 10.0.0.0/16"
    assert finding.fix == "use another, such as 100.64.0.0/16"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
network: {cidr: 10.0.0.0/8}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="larger-than-a-vpc-takes",
        ),
    ],
)
def test_address_blocks_overlap_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK3002" in codes_of(text)
