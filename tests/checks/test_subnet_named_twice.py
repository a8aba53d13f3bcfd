"""GK3016: one subnet is named for several zones."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity
from gpukit.judge import Judgement

SUBNETS = """
region: us-east-1
network:
  existing:
    vpc_id: vpc-0123456789abcdef0
    subnets: {us-east-1a: subnet-0000000000000000a, us-east-1b: subnet-0000000000000000a, us-east-1c: %s}
pools:
  train: {instance_type: g6e.xlarge}
"""


def test_subnet_named_twice_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3016")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.existing.subnets.us-east-1b"
    assert finding.problem == "`subnet-0123456789abcdef0` is named for us-east-1b and for us-east-1a"
    assert finding.fix == "name the subnet that stands in us-east-1b"


def test_each_zone_after_the_first_is_told(judge_text: Callable[[str], Judgement]) -> None:
    def told(third: str) -> list[str]:
        return [item.path[-10:] for item in judge_text(SUBNETS % third).findings if item.code == "GK3016"]

    assert told("subnet-0000000000000000a") == ["us-east-1b", "us-east-1c"]
    assert told("subnet-0000000000000000c") == ["us-east-1b"]
