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
    ],
)
def test_setting_without_effect_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1023" not in codes_of(text)
