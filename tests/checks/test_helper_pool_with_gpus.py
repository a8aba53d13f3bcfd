"""GK2048: a helper pool has GPUs."""

from collections.abc import Callable
from datetime import date

from gpukit.finding import Finding, Severity
from gpukit.judge import judge
from gpukit.planning import plan_from_preset

DAY = date(2026, 12, 1)


def test_helper_pool_with_gpus_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2048")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.prepare.role"
    assert finding.problem == "the role is `cpu`, and g6e.xlarge has GPUs"
    assert finding.fix == "set `role: gpu`, or choose a type without GPUs such as m7i.2xlarge"


def test_the_helper_pools_of_the_presets_have_none() -> None:
    for preset in ("single-node", "multi-node", "thousand-card", "thousand-card-liquid"):
        findings = judge(plan_from_preset(preset, today=DAY), today=DAY).findings
        assert "GK2048" not in {item.code for item in findings}
