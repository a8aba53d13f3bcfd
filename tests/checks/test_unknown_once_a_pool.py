"""What is not known of a type is told once for its pool, however many node groups the pool has."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

from gpukit.catalog import load_catalog
from gpukit.checks import CheckContext
from gpukit.checks.index import load_rule
from gpukit.finding import Finding, Severity
from gpukit.planning import PlanResult

DAY = date(2026, 12, 1)
TWO_GROUPS = """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity:
      mode: reserved
      reservations:
        - {id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a}
        - {id: cr-0123456789abcdef1, nodes: 2, availability_zone: us-east-1a}
"""
NEW_TYPE = """\
name,family,vcpu,memory_gib,gpu_model,gpu_count,gpu_memory_gb_each,architecture,liquid_only,status,source,as_of
p9.48xlarge,p9,192,4096,B300,8,288,x86_64,no,announced,our-contract,2026-12-01
"""


def _findings(code: str, result: PlanResult, folder: Path) -> list[Finding]:
    """Judge the plan as if its node groups were of a type whose cards nobody knows."""
    (folder / "instance_types.csv").write_text(NEW_TYPE, encoding="utf-8")
    assert result.plan is not None
    assert result.spec is not None
    pool = result.plan.pools[0]
    groups = tuple(replace(group, instance_type="p9.48xlarge") for group in pool.node_groups)
    assert len(groups) == 2
    unpriced = tuple(
        replace(line, hourly_usd=None, monthly_usd=None) if line.subject.startswith("nodes train") else line
        for line in result.plan.costs
    )
    plan = replace(result.plan, pools=(replace(pool, node_groups=groups),), costs=unpriced)
    context = CheckContext(spec=result.spec, catalog=load_catalog(folder), today=DAY, made_plan=plan)
    return list(load_rule(code).check(context))


def test_a_type_whose_cards_are_unknown_is_unknown_and_no_error(
    plan_text: Callable[[str], PlanResult], tmp_path: Path
) -> None:
    (finding,) = _findings("GK3008", plan_text(TWO_GROUPS), tmp_path)

    assert finding.severity is Severity.UNKNOWN
    assert finding.path == "pools.train.network_interfaces"
    assert finding.problem == "the network cards of p9.48xlarge are not known"


def test_a_price_that_is_not_known_is_told_once_a_pool(plan_text: Callable[[str], PlanResult], tmp_path: Path) -> None:
    (finding,) = _findings("GK7002", plan_text(TWO_GROUPS), tmp_path)

    assert finding.severity is Severity.UNKNOWN
    assert finding.path == "pools.train"
    assert finding.problem == "what a node of `train` (p9.48xlarge) costs in us-east-1 is not known"
