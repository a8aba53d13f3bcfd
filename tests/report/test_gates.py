"""Gates refuse what they cannot judge; the allow list lets through one exact thing, owned and dated."""

import datetime
from dataclasses import replace

import pytest

from gpukit.finding import Finding, Severity
from gpukit.report.allow_list import AllowEntry, owners_of, parse_allow_list, valid_entries
from gpukit.report.change import Numbers
from gpukit.report.danger import find_dangers
from gpukit.report.engine_digest import parse_engine_digest
from gpukit.report.gates import BadGate, budget_gates, check_gates, parse_gates
from tests.report.digests import GPU_GROUP, NODE_GROUP, TOTALS, digest, step

TODAY = datetime.date(2026, 12, 1)
REPLACED = step("replace", NODE_GROUP, "train-a", old=GPU_GROUP, new={**GPU_GROUP, "amiType": "X"}, replace=["amiType"])
DELETED = step("delete", NODE_GROUP, "train-b", old=GPU_GROUP)
AFTER = Numbers(
    gpus=1024, nodes=128, hourly_usd=8000.0, monthly_usd=5_840_000.0, it_kw=1280.0, kgco2e_per_month=1.0, unpriced=0
)


def judge(words: str, *steps, after: Numbers = AFTER, allowed=(), findings=(), **more):
    change = replace(parse_engine_digest(digest(*steps, totals=TOTALS, **more)), after=after, findings=tuple(findings))
    return check_gates(change, find_dangers(change), parse_gates(words), allowed=allowed)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("replace", 'gate replace: "train-a" (aws:eks/nodeGroup:NodeGroup) would be replaced, forced by amiType'),
        ("delete", 'gate delete: "train-b" (aws:eks/nodeGroup:NodeGroup) would be deleted'),
        ("cost>7000", "gate cost>7000: the list price is 8,000 $/hour, over the limit 7,000"),
        ("cost-month>1000000", "gate cost-month>1000000: the list price is 5,840,000 $/month, over the limit 1,000,000"),
        ("cost-delta>100", "gate cost-delta>100: the rise of the list price is 4,000 $/hour, over the limit 100"),
        ("gpus>1000", "gate gpus>1000: the size is 1,024 GPUs, over the limit 1,000"),
    ],
)  # fmt: skip
def test_the_reason_names_gate_thing_and_limit(words: str, says: str) -> None:
    assert judge(words, REPLACED, DELETED).reason == says


@pytest.mark.parametrize("words", ["cost>8000", "gpus>1024", "cost-delta>4000", "cost-month>6000000", "unknown"])
def test_a_gate_that_holds_lets_through(words: str) -> None:
    assert not judge(words, REPLACED).refused


@pytest.mark.parametrize("words", ["cost>1e9", "cost>", "gpus", "repalce", "finding:4711", "cost<5", "cost>-1", "*"])
def test_a_word_that_is_no_gate_is_refused(words: str) -> None:
    with pytest.raises(BadGate, match="--fail-on"):
        parse_gates(words)


def test_a_mistyped_gate_gets_the_nearest() -> None:
    with pytest.raises(BadGate, match="did you mean `replace`"):
        parse_gates("repalce")


@pytest.mark.parametrize("words", ["cost>99999", "cost-month>999999999", "cost-delta>99999", "gpus>99999", "unknown"])
def test_what_is_unknown_is_refused(words: str) -> None:
    assert "unknown" in judge(words, after=Numbers()).reason


def test_a_sum_that_leaves_lines_out_is_judged_aloud_and_refused_by_unknown() -> None:
    after = replace(AFTER, unpriced=2)
    result = judge("cost>99999", after=after)

    assert not result.refused
    assert result.notes == ("2 cost lines have no known price; the cost gates judged the sum of the others",)
    assert judge("unknown", after=after).reason == "gate unknown: 2 cost lines have no known price"


def test_a_preview_that_did_not_finish_is_refused_by_any_gate() -> None:
    result = judge("gpus>99999", diagnostics=[{"severity": "error", "message": "boom"}])

    assert result.refused
    assert "did not finish" in result.reason


def test_findings_are_a_gate_by_code_and_by_level() -> None:
    finding = Finding(code="GK2041", severity=Severity.ERROR, path="pools.train", problem="p", why="w", fix="f")

    assert judge("finding:GK2041", findings=[finding]).refused
    assert judge("finding:error", findings=[finding]).refused
    assert not judge("finding:GK9999", findings=[finding]).refused


def test_the_budget_of_the_stack_is_a_gate() -> None:
    change = replace(parse_engine_digest(digest(totals=TOTALS)), after=AFTER)
    result = check_gates(change, (), budget_gates(hourly_usd=600, monthly_usd=None))

    assert result.reason == "gate cost>600: the list price is 8,000 $/hour, over the limit 600 of budget.hourly_usd"


ENTRY = """
allow:
  - gate: replace
    resource: "*NodeGroup train-a"
    stack: prod
    reason: new image
    expires: 2026-12-31
    approver: "@org/platform"
"""
OWNERS = ("@org/platform",)


def entries(text: str = ENTRY, *, owners=OWNERS, today=TODAY, stack="prod"):
    return valid_entries(parse_allow_list(text), stack=stack, today=today, owners=owners)


def test_the_allow_list_lifts_exactly_what_it_names() -> None:
    result = judge("replace,delete", REPLACED, DELETED, allowed=entries().entries)

    assert [refusal.name for refusal in result.refusals] == ["train-b"]
    assert [refusal.name for refusal in result.lifted] == ["train-a"]


@pytest.mark.parametrize(
    ("result", "says"),
    [
        pytest.param(entries(today=datetime.date(2027, 1, 1)), "expired on 2026-12-31", id="expired"),
        pytest.param(entries(owners=()), "names no owner", id="no-codeowners"),
        pytest.param(entries(owners=("@org/other",)), "is no owner", id="not-an-owner"),
        pytest.param(entries(ENTRY.replace("2026-12-31", "2029-12-31")), "more than a year", id="for-ever"),
        pytest.param(entries(ENTRY.replace('"*NodeGroup train-a"', '"*"')), "switch the gate off", id="everything"),
        pytest.param(entries(ENTRY.replace("reason: new image", "reason: ''")), "`reason` is missing", id="no-reason"),
        pytest.param(entries(ENTRY.replace("expires: 2026-12-31", "")), "`expires` is missing", id="no-expiry"),
        pytest.param(entries(ENTRY.replace("stack: prod", "stacks: prod")), "unknown key `stacks`", id="mistyped-key"),
        pytest.param(entries("allow: [1"), "is not YAML", id="broken"),
        pytest.param(entries("- x"), "has no list `allow`", id="no-list"),
    ],
)
def test_an_entry_that_does_not_hold_says_why(result, says: str) -> None:
    assert not result.entries
    assert says in " ".join(result.notes)


def test_an_entry_of_another_stack_is_silent() -> None:
    assert entries(stack="dev").entries == ()
    assert entries(stack="dev").notes == ()


def test_an_entry_for_a_limit_lifts_only_that_limit() -> None:
    entry = AllowEntry(gate="cost>7000", resource="", stack="*", reason="r", expires=TODAY, approver="@a")

    assert not judge("cost>7000", allowed=[entry]).refused
    assert judge("cost>6000", allowed=[entry]).refused


def test_nothing_lifts_an_incomplete_preview() -> None:
    entry = AllowEntry(gate="incomplete", resource="", stack="*", reason="r", expires=TODAY, approver="@a")

    assert judge("gpus>9999", allowed=[entry], diagnostics=[{"severity": "error", "message": "boom"}]).refused


@pytest.mark.parametrize(
    ("codeowners", "owners"),
    [
        pytest.param("* @all", ("@all",), id="everything"),
        pytest.param("* @all\n/.gpukit/ @platform", ("@platform",), id="last-match-wins"),
        pytest.param("/.gpukit/ @platform\n* @all", ("@all",), id="order-matters"),
        pytest.param("*.yaml @y # comment", ("@y",), id="extension"),
        pytest.param("/.gpukit/* @a @b", ("@a", "@b"), id="folder-star"),
        pytest.param("docs/ @docs", (), id="elsewhere"),
        pytest.param("* @all\n.gpukit/allow.yaml", (), id="unowned-again"),
        pytest.param("[Infra] @sec\n.gpukit/allow.yaml", ("@sec",), id="section-default"),
        pytest.param("**/allow.yaml @deep", ("@deep",), id="double-star"),
    ],
)
def test_codeowners_last_match_wins(codeowners: str, owners: tuple[str, ...]) -> None:
    assert owners_of(codeowners) == owners
