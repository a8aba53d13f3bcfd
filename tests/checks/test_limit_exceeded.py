"""GK2040: the plan needs more than a limit allows."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_limit_exceeded_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2040")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train"
    assert finding.problem == "Running On-Demand P instances: 384 of 192 vCPUs (L-417A185B), 2 x 192 of train-1"
    assert finding.fix == "request it in Service Quotas: service ec2, quota L-417A185B"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
limits: {L-417A185B: 100000}
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 128
    zones: [us-east-1a]
    root_volume: {gib: 500}
""",
            id="root-volumes-beyond-gp3-storage",
        ),
    ],
)
def test_limit_exceeded_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2040" in codes_of(text)
