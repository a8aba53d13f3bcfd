"""The step summary: verdict, numbers, dangers, counts for each component, and not the whole report again."""

from dataclasses import replace

from gpukit.finding import Finding, Severity
from gpukit.report.change import Message
from gpukit.report.pipeline import ReportFormat, complete_change, judge_change, parse_preview, render_report
from tests.report.digests import GPU_GROUP, NODE_GROUP, TOTALS, digest, step

SUBNETS = [step("create", "aws:ec2/subnet:Subnet", f"subnet-{n}", new={"cidrBlock": "10.0.0.0/24"}) for n in range(300)]
DELETED = step("delete", NODE_GROUP, "train-a", old=GPU_GROUP)


def summary(text: str, *, form: ReportFormat = ReportFormat.SUMMARY, **more) -> str:
    return render_report(judge_change(complete_change(replace(parse_preview(text), **more))), form)


def finding(severity: Severity, code: str) -> Finding:
    return Finding(code=code, severity=severity, path="a", problem=f"problem of {code}", why="w", fix="f")


def test_a_summary_has_verdict_dangers_and_counts_and_no_row_for_each_resource() -> None:
    text = summary(digest(DELETED, *SUBNETS, totals=TOTALS))

    assert text.startswith("**Danger** on `prod`: 1 thing needs a decision")
    assert "### Danger (1)" in text
    assert "| component | delete | create |\n|---|--:|--:|\n| `GpuNodePool train` | 1 | 300 |" in text
    assert "subnet-7" not in text
    assert len(text) < 1_500


def test_a_summary_is_shorter_than_the_comment() -> None:
    preview = digest(*SUBNETS)

    assert len(summary(preview)) < len(summary(preview, form=ReportFormat.MARKDOWN)) / 5


def test_errors_are_named_and_the_rest_is_counted() -> None:
    text = summary(
        digest(*SUBNETS),
        findings=(finding(Severity.WARNING, "GK7004"), finding(Severity.ERROR, "GK7001")),
        messages=(Message(level="error", text="no such subnet"), Message(level="warning", text="using a plug-in")),
    )

    assert "### Findings (1 error, 1 warning)\n- GK7001 at `a`: problem of GK7001" in text
    assert "GK7004" not in text
    assert "- no such subnet" in text
    assert "using a plug-in" not in text


def test_no_change_is_one_line() -> None:
    assert summary(digest(totals=TOTALS)).count("\n") == 1
