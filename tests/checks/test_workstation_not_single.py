"""GK1037: a workstation is asked for more than one instance."""

from collections.abc import Callable
from datetime import date

import pytest

from gpukit.finding import Finding, Severity
from gpukit.judge import judge
from gpukit.planning import plan_from_preset

DAY = date(2026, 12, 1)


def _codes(*sets: str) -> dict[str, str]:
    findings = judge(plan_from_preset("single-node", sets=sets, today=DAY), today=DAY).findings
    return {finding.path: finding.problem for finding in findings if finding.code == "GK1037"}


def test_workstation_not_single_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1037")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.workstation.nodes"
    assert finding.problem == "a workstation has 3 nodes in `workstation`"
    assert finding.fix == (
        "write `nodes: 1`, or start from the preset multi-node; `make down` takes the one instance away"
    )


@pytest.mark.parametrize(
    ("nodes", "problem"),
    [
        pytest.param("0", "a workstation has 0 nodes in `workstation`", id="none"),
        pytest.param("{min: 0, max: 1}", "a workstation has 0 to 1 nodes in `workstation`", id="a-range"),
    ],
)
def test_any_other_number_than_one_is_refused(nodes: str, problem: str) -> None:
    assert _codes(f"pools.workstation.nodes={nodes}") == {"pools.workstation.nodes": problem}


def test_a_second_pool_is_refused() -> None:
    assert _codes("pools.train={instance_type: p5.48xlarge}") == {
        "pools": "a workstation has 2 pools: `train`, `workstation`"
    }


def test_one_instance_is_accepted() -> None:
    assert _codes() == {}
