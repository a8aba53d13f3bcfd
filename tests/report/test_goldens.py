"""
Whole comments for typical changes, from what the real engine said of them (`scripts/record_digests.py`).

`make golden` rewrites the comments; read the difference like code.
"""

import gzip
import json
from functools import cache
from pathlib import Path

import pytest

from gpukit.report.gates import parse_gates
from gpukit.report.numbers import parse_plan_numbers
from gpukit.report.pipeline import ReportFormat, complete_change, judge_change, parse_preview, render_report

DIGESTS = Path(__file__).parent.parent / "golden" / "report" / "digests"
CASES = (
    "create-thousand-card", "grow-64-to-128", "no-change", "change-image", "change-lustre-tier", "rename-pool",
    "delete-pool", "tag-only", "replace-network", "hostile-names", "five-thousand",
)  # fmt: skip
GATES = "replace,delete"


def read(name: str) -> str:
    packed = DIGESTS / f"{name}.gz"
    return gzip.decompress(packed.read_bytes()).decode() if packed.is_file() else (DIGESTS / name).read_text("utf-8")


@cache
def five_thousand() -> str:
    """Return the engine's digest of a thousand GPUs sixty times over: 5,000 steps and more in one preview."""
    document = json.loads(read("create-thousand-card.json"))
    steps = [step for step in document["steps"] if step["urn"].count("::") == 3]
    root = [step for step in steps if step["urn"].split("::")[2] == "pulumi:pulumi:Stack"]
    copies = [
        json.loads(
            json.dumps(step)
            .replace("::thousand", f"::copy-{number:02}-thousand")
            .replace("::train", f"::copy-{number:02}-train")
        )
        for number in range(60)
        for step in steps
        if step not in root
    ]
    for number, step in enumerate(copies):
        if f"::copy-{number // (len(steps) - len(root)):02}-" not in step["urn"]:
            step["urn"] += f"-{number // (len(steps) - len(root)):02}"
    return json.dumps({**document, "steps": [*root, *copies], "changeSummary": {"create": len(copies)}})


def report_of(case: str, name: str = ""):
    text = five_thousand() if case == "five-thousand" else read(name or f"{case}.json")
    plan = DIGESTS / f"{case}.plan.json"
    after = parse_plan_numbers(plan.read_text(), where=plan.name) if plan.is_file() else None
    return judge_change(complete_change(parse_preview(text), after=after), gates=parse_gates(GATES))


@pytest.mark.parametrize("case", CASES)
def test_the_comment_is_as_it_was_read(case: str, golden) -> None:
    text = render_report(report_of(case), ReportFormat.MARKDOWN)

    assert len(text) <= 60_000
    golden(f"report/{case}.md", text)


@pytest.mark.parametrize("case", ["grow-64-to-128", "no-change"])
def test_the_text_for_terminals_is_as_it_was_read(case: str, golden) -> None:
    golden(f"report/{case}.txt", render_report(report_of(case), ReportFormat.TEXT))


@pytest.mark.parametrize("case", CASES)
def test_a_digest_holds_no_path_of_the_machine_that_recorded_it(case: str) -> None:
    for file in DIGESTS.glob(f"{case}*"):
        text = read(file.name.removesuffix(".gz"))
        for word in ("/home/", "/root/", "/tmp/", "site-packages"):
            assert word not in text, f"{file.name} holds {word}"


def steps_of(report) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(step.urn, step.action.value, step.forced_by) for step in report.change.steps]


@pytest.mark.parametrize(
    ("case", "forms"),
    [("grow-64-to-128", ("steps.json", "sames.json", "events.jsonl")), ("replace-network", ("steps.json", "events.jsonl"))],
)  # fmt: skip
def test_all_forms_of_a_preview_say_the_same(case: str, forms: tuple[str, ...]) -> None:
    plain = report_of(case)

    for form in forms:
        assert sorted(steps_of(report_of(case, f"{case}.{form}"))) == sorted(steps_of(plain)), form


def test_five_thousand_steps_are_all_counted() -> None:
    report = report_of("five-thousand")

    assert len(report.change.steps) > 5_000
    assert f"{len(report.change.steps):,} to create" in render_report(report, ReportFormat.MARKDOWN).splitlines()[0]
