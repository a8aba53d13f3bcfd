"""GK3006: a container image that a closed network cannot reach."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_registry_out_of_reach_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3006")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.pre_pull[0]"
    assert finding.problem == "`nvcr.io/nvidia/pytorch:25.08-py3` is outside the closed network"
    assert finding.fix == "copy it into ECR (a pull-through cache does it by itself), or use `egress: nat`"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
network: {egress: endpoints}
images: {training: {framework: pytorch}}
pools:
  train: {instance_type: g6e.xlarge, image: training}
""",
            id="an-image-that-gpukit-chose",
        ),
    ],
)
def test_registry_out_of_reach_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK3006" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, pre_pull: ["nvcr.io/nvidia/pytorch:25.08-py3"]}
""",
            id="a-public-image-with-a-way-out",
        ),
    ],
)
def test_registry_out_of_reach_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK3006" not in codes_of(text)
