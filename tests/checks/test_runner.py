"""How rules are run: what is set aside, what cannot run, what counts as an error when deploying."""

from collections.abc import Callable, Iterator
from datetime import date

import pytest

from gpukit.catalog import load_catalog
from gpukit.checks import CheckContext, CheckResult, Rule, run_checks
from gpukit.checks.rule import tell
from gpukit.finding import Finding, Position, Severity
from gpukit.judge import Judgement
from gpukit.planning import PlanResult

TODAY = date(2026, 12, 1)
ONE_POOL = "region: us-east-1\npools:\n  train: {instance_type: g6e.xlarge}\n"


def _check(context: CheckContext) -> Iterator[Finding]:
    yield tell("GK7003", Severity.WARNING, "pools.train.nodes", problem="a", fix="b")
    yield tell("GK7003", Severity.WARNING, "budget", problem="a", fix="b")


RULE = Rule(
    code="GK7003",
    title="t",
    severity=Severity.WARNING,
    needs="spec",
    check=_check,
    why="the reason",
    source="the source",
)


def _run(result: PlanResult, *, with_plan: bool = True) -> CheckResult:
    assert result.spec is not None
    return run_checks(
        result.spec,
        result.plan if with_plan else None,
        load_catalog(),
        today=TODAY,
        locate=result.input.locate,
        rules=[RULE],
    )


def test_a_finding_gets_reason_and_source_of_its_rule_and_its_place_in_the_file(
    plan_text: Callable[[str], PlanResult],
) -> None:
    first, second = _run(plan_text(ONE_POOL)).findings

    assert (first.path, first.why, first.source) == ("budget", "the reason", "the source")
    assert second.position == Position(file="stack.yaml", line=3, column=3)


def test_a_suppression_sets_aside_with_its_reason_and_is_counted(judge_text: Callable[[str], Judgement]) -> None:
    judged = judge_text(ONE_POOL + "suppress: [{code: GK7003, reason: priced by hand}]\n")

    assert "GK7003" not in {finding.code for finding in judged.findings}
    assert [(item.finding.code, item.reason) for item in judged.suppressed] == [("GK7003", "priced by hand")]


@pytest.mark.parametrize(
    ("path", "accepted"),
    [
        pytest.param("budget", True, id="the-path-itself"),
        pytest.param("pools", False, id="another-path"),
        pytest.param("budge", False, id="a-prefix-that-is-no-parent"),
    ],
)
def test_a_suppression_with_a_path_holds_only_there_and_below(
    path: str, accepted: bool, judge_text: Callable[[str], Judgement]
) -> None:
    judged = judge_text(ONE_POOL + f"suppress: [{{code: GK7003, reason: priced by hand, path: {path}}}]\n")

    assert bool(judged.suppressed) is accepted
    assert ("GK1022" in {finding.code for finding in judged.findings}) is not accepted


@pytest.mark.parametrize(
    ("until", "in_force"),
    [
        pytest.param("2026-12-01", True, id="its-last-day-counts"),
        pytest.param("2026-11-30", False, id="the-day-after-does-not"),
    ],
)
def test_a_suppression_ends_after_its_last_day(
    until: str, in_force: bool, judge_text: Callable[[str], Judgement]
) -> None:
    judged = judge_text(ONE_POOL + f"suppress: [{{code: GK7003, reason: priced by hand, until: {until}}}]\n")
    codes = {finding.code for finding in judged.findings}

    assert ("GK7003" not in codes) is in_force
    assert ("GK1020" in codes) is not in_force


def test_rules_that_need_a_plan_are_named_when_there_is_none(plan_text: Callable[[str], PlanResult]) -> None:
    result = plan_text(ONE_POOL)
    assert result.spec is not None
    checked = run_checks(result.spec, None, load_catalog(), today=TODAY)

    assert "GK2040" in checked.not_run
    assert "GK7003" in {finding.code for finding in checked.findings}


def test_rules_over_the_spec_speak_although_no_pool_can_be_planned(codes_of: Callable[[str], set[str]]) -> None:
    codes = codes_of("region: us-east-1\nenvironment: demo\npools:\n  train: {instance_type: p5en.48xlarg}\n")

    assert {"GK1007", "GK7005"} <= codes


def test_a_missing_reservation_id_is_a_warning_in_a_draft_and_an_error_when_deploying(
    judge_text: Callable[..., Judgement],
) -> None:
    text = ONE_POOL.replace(
        "{instance_type: g6e.xlarge}",
        "{instance_type: p5en.48xlarge, nodes: 2, zones: [us-east-1a], capacity: {mode: capacity-block}}",
    )
    draft = {f.severity for f in judge_text(text).findings if f.code == "GK2008"}
    deploying = {f.severity for f in judge_text(text, deploying=True).findings if f.code == "GK2008"}

    assert (draft, deploying) == ({Severity.WARNING}, {Severity.ERROR})


def test_findings_come_once_and_in_the_same_order_on_every_run(judge_text: Callable[[str], Judgement]) -> None:
    text = (
        "region: us-east-1\nenvironment: demo\npools:\n  b: {instance_type: p5en.48xlarge, nodes: 2}\n  a: {nodes: 1}\n"
    )
    first, second = judge_text(text).findings, judge_text(text).findings

    assert first == second
    assert len(set(first)) == len(first)
    assert [item.path for item in first] == sorted(item.path for item in first)


def test_all_mistakes_are_told_together(codes_of: Callable[[str], set[str]]) -> None:
    codes = codes_of(
        """
region: us-east-1
environment: demo
tags: {"aws:x": y}
network: {flow_log_days: 45, nat_gateways: 0}
access: {public_endpoint_cidrs: [0.0.0.0/0]}
pools:
  train: {instance_type: p5en.48xlarg, nodes: many}
  serve: {instance_type: g6e.xlarge, efa: true, nodes: 2, image: nope}
storage:
  scratch: {kind: lustre, gib: 3000, throughput_tier: 250}
"""
    )

    assert {
        "GK1003", "GK1007", "GK1008", "GK1024", "GK2022", "GK3003", "GK3012", "GK3014", "GK4001", "GK7003", "GK7005"
    } <= codes  # fmt: skip
