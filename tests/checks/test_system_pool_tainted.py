"""GK1033: every system pool repels the pods it is for."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_system_pool_tainted_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1033")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.system.taints"
    assert finding.problem == "the system pool `system` is tainted, and no other takes system pods"
    assert finding.fix == "remove the taint, or use `PreferNoSchedule`"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  system: {role: system, instance_type: m7i.xlarge, nodes: 2}
  quiet: {role: system, instance_type: m7i.xlarge, taints: [{key: dedicated}]}
  train: {instance_type: g6e.xlarge}
""",
            id="one-of-two",
        ),
    ],
)
def test_system_pool_tainted_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1033" not in codes_of(text)
