"""GK1023: a setting has no effect where it stands."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_setting_without_effect_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1023")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.nat_gateways"
    assert finding.problem == "`nat_gateways` has no effect: egress goes by endpoints only"
    assert finding.fix == "remove it, or set `egress: nat`"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, capacity: {mode: on-demand, max_usd_per_hour: 1.5}}
""",
            id="spot-price-without-spot",
        ),
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge}
storage:
  home: {kind: efs, role: home, throughput_tier: 500}
""",
            id="lustre-tier-on-efs",
        ),
        pytest.param(
            """
region: us-east-1
lifecycle: {idle_stop_minutes: 60}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="idle-stop-on-a-cluster",
        ),
        pytest.param(
            """
region: us-east-1
kind: existing-cluster
images: {training: {framework: pytorch, build: true}}
pools:
  train: {instance_type: g6e.xlarge, image: training}
""",
            id="build-without-a-node",
        ),
        pytest.param(
            """
region: us-east-1
kind: workstation
pools:
  dev: {instance_type: g6e.xlarge, pre_pull: ["nvcr.io/nvidia/pytorch:25.08-py3"]}
""",
            id="pre-pull-on-a-workstation",
        ),
    ],
)
def test_setting_without_effect_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1023" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, capacity: {mode: spot, max_usd_per_hour: 1.5}}
""",
            id="spot-price-on-spot",
        ),
        pytest.param(
            """
region: us-east-1
images: {training: {framework: pytorch, build: true}}
pools:
  train: {instance_type: g6e.xlarge, image: training, pre_pull: ["nvcr.io/nvidia/pytorch:25.08-py3"]}
""",
            id="build-and-pre-pull-on-a-cluster",
        ),
    ],
)
def test_setting_without_effect_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1023" not in codes_of(text)
