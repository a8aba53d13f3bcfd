"""Findings as text, JSON, SARIF and GitHub annotations: exact, valid, and safe with hostile words in them."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from gpukit.checks import SuppressedFinding
from gpukit.checks.index import known_codes
from gpukit.checks.render_github import render_github
from gpukit.checks.render_json import render_json
from gpukit.checks.render_sarif import render_sarif
from gpukit.checks.render_text import render_text
from gpukit.finding import Finding, Position, Severity
from gpukit.judge import Judgement

PART = json.loads((Path(__file__).parent / "sarif_2_1_0_part.json").read_text(encoding="utf-8"))
ERROR = Finding(
    code="GK2021",
    severity=Severity.ERROR,
    path="pools.train.zones",
    problem="us-east-1b does not offer p5en.48xlarge",
    why="the launch fails",
    fix="use us-east-1a",
    source="instance_offerings.csv",
    position=Position(file="stacks/Pulumi.dev.yaml", line=12, column=5),
)
UNKNOWN = Finding(
    code="GK2042", severity=Severity.UNKNOWN, path="pools", problem="not known", why="it differs", fix="ask"
)
ACCEPTED = SuppressedFinding(
    finding=Finding(code="GK7003", severity=Severity.WARNING, path="budget", problem="none", why="w", fix="f"),
    reason="priced by hand",
    until=date(2027, 1, 31),
)
HOSTILE = Finding(
    code="GK1002",
    severity=Severity.ERROR,
    path="tags.x\n::set-output name=a::b",
    problem="\x1b[31mred\x1b[0m \u202eevil 100% <script>alert(1)</script> ::error::x\r\nnext",
    why="w",
    fix="f",
    position=Position(file="a b,c:d%.yaml", line=1, column=1),
)


def test_text_says_what_where_why_and_how_to_fix_it() -> None:
    assert render_text([ERROR, UNKNOWN], [ACCEPTED]) == (
        "GK2021 error   pools.train.zones: us-east-1b does not offer p5en.48xlarge\n"
        "  at:   stacks/Pulumi.dev.yaml:12:5\n"
        "  why:  the launch fails\n"
        "  fix:  use us-east-1a\n"
        "  docs: docs/codes/GK2021.md\n"
        "\n"
        "GK2042 unknown pools: not known\n"
        "  why:  it differs\n"
        "  fix:  ask\n"
        "  docs: docs/codes/GK2042.md\n"
        "\n"
        "GK7003 accepted until 2027-01-31: budget: none\n"
        "  because: priced by hand\n"
        "\n"
        "1 error, 1 unknown, 1 suppressed\n"
    )


def test_nothing_found_is_no_text() -> None:
    assert render_text([]) == ""


def test_json_holds_every_part_of_a_finding_and_the_counts() -> None:
    value = json.loads(render_json([ERROR, UNKNOWN], [ACCEPTED], not_run=["GK3001"]))

    assert value["findings"][0] == {
        "code": "GK2021",
        "severity": "error",
        "path": "pools.train.zones",
        "problem": "us-east-1b does not offer p5en.48xlarge",
        "why": "the launch fails",
        "fix": "use us-east-1a",
        "source": "instance_offerings.csv",
        "docs": "docs/codes/GK2021.md",
        "file": "stacks/Pulumi.dev.yaml",
        "line": 12,
        "column": 5,
    }
    assert value["counts"] == {"error": 1, "warning": 0, "unknown": 1, "suppressed": 1}
    assert (value["suppressed"][0]["reason"], value["suppressed"][0]["until"]) == ("priced by hand", "2027-01-31")
    assert value["not_run"] == ["GK3001"]


def test_an_annotation_stands_at_the_line_of_the_finding() -> None:
    assert render_github([ERROR]) == (
        "::error file=stacks/Pulumi.dev.yaml,line=12,col=5,title=GK2021 pools.train.zones::"
        "us-east-1b does not offer p5en.48xlarge%0Awhy: the launch fails%0Afix: use us-east-1a\n"
    )


def test_no_word_of_a_finding_can_start_another_workflow_command() -> None:
    text = render_github([HOSTILE])

    assert text.count("\n") == 1
    assert text.startswith(
        "::error file=a b%2Cc%3Ad%25.yaml,line=1,col=1,title=GK1002 tags.x%0A%3A%3Aset-output name=a%3A%3Ab::"
    )
    assert "\x1b" not in text
    assert "\r" not in text


def test_no_control_character_reaches_a_terminal() -> None:
    text = render_text([HOSTILE])

    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u001b[31mred" in text


def _valid(text: str) -> dict[str, object]:
    log: dict[str, object] = json.loads(text)
    jsonschema.Draft202012Validator(PART, format_checker=jsonschema.FormatChecker()).validate(log)
    return log


def test_sarif_is_valid_and_points_at_the_line() -> None:
    log = _valid(render_sarif([ERROR, UNKNOWN], [ACCEPTED], file="stacks/Pulumi.dev.yaml"))
    first, second, third = log["runs"][0]["results"]  # type: ignore[index]

    assert first["locations"][0]["physicalLocation"] == {
        "artifactLocation": {"uri": "stacks/Pulumi.dev.yaml"},
        "region": {"startLine": 12, "startColumn": 5},
    }
    assert (first["level"], second["level"], second["properties"]["severity"]) == ("error", "note", "unknown")
    assert third["suppressions"] == [{"kind": "external", "status": "accepted", "justification": "priced by hand"}]


def test_sarif_rules_are_those_that_fired_and_results_point_at_them() -> None:
    log = _valid(render_sarif([ERROR, UNKNOWN], [ACCEPTED]))
    run = log["runs"][0]  # type: ignore[index]
    rules = run["tool"]["driver"]["rules"]

    assert [rule["id"] for rule in rules] == ["GK2021", "GK2042", "GK7003"]
    assert [rules[item["ruleIndex"]]["id"] for item in run["results"]] == [item["ruleId"] for item in run["results"]]


def test_sarif_of_hostile_words_and_of_nothing_is_valid() -> None:
    _valid(render_sarif([HOSTILE]))
    _valid(render_sarif([]))


def test_sarif_of_every_code_is_valid() -> None:
    findings = [
        Finding(code=code, severity=Severity.ERROR, path="a", problem="b", why="c", fix="d") for code in known_codes()
    ]
    log = _valid(render_sarif(findings))

    assert len(log["runs"][0]["tool"]["driver"]["rules"]) == len(known_codes())  # type: ignore[index]


def test_the_fingerprint_stays_when_the_line_moves() -> None:
    moved = ERROR.at(Position(file="stacks/Pulumi.dev.yaml", line=99, column=1))
    prints = [
        json.loads(render_sarif([item]))["runs"][0]["results"][0]["partialFingerprints"] for item in (ERROR, moved)
    ]

    assert prints[0] == prints[1]


@pytest.mark.parametrize("render", [render_text, render_json, render_sarif], ids=["text", "json", "sarif"])
def test_the_same_findings_give_the_same_bytes(
    render: Callable[..., str], judge_text: Callable[[str], Judgement]
) -> None:
    text = "region: us-east-1\npools:\n  train: {instance_type: p5en.48xlarge, nodes: 2, zones: [us-east-1b]}\n"

    assert render(judge_text(text).findings) == render(judge_text(text).findings)
