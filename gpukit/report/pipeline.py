"""From a preview's text to a judged report: the steps that the commands `report` and `preview` share."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from gpukit.finding import Finding, sort_findings
from gpukit.report.allow_list import AllowList
from gpukit.report.as_json import render_json, report_document
from gpukit.report.change import Change, Numbers
from gpukit.report.danger import Danger, find_dangers
from gpukit.report.engine_digest import parse_engine_digest
from gpukit.report.engine_events import looks_like_events, parse_engine_events
from gpukit.report.gates import Gate, GateResult, check_gates
from gpukit.report.markdown import MAX_COMMENT_CHARS, render_markdown
from gpukit.report.numbers import with_carried_numbers
from gpukit.report.plain_text import render_plain_text
from gpukit.report.redaction import redact_text
from gpukit.report.step_summary import render_step_summary


class ReportFormat(StrEnum):
    """How a report is written."""

    MARKDOWN = "markdown"
    JSON = "json"
    TEXT = "text"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A change with what was concluded from it."""

    change: Change
    dangers: tuple[Danger, ...]
    gate: GateResult | None

    @property
    def refused(self) -> bool:
        """Whether a gate stops the pipeline."""
        return self.gate is not None and self.gate.refused


def parse_preview(text: str, *, stack: str = "", where: str = "the preview") -> Change:
    """Return the change of a digest or of an event stream, whichever the text is; UnreadablePreview for people."""
    if looks_like_events(text):
        return parse_engine_events(text, stack=stack, where=where)
    return parse_engine_digest(text, stack=stack, where=where)


def complete_change(
    change: Change, *, before: Numbers | None = None, after: Numbers | None = None, findings: Iterable[Finding] = ()
) -> Change:
    """Return the change with numbers and findings from elsewhere; what the state itself says of before comes first."""
    unknown = Numbers()
    change = replace(
        change,
        before=change.before if change.before != unknown else before or unknown,
        after=after if after is not None and after != unknown else change.after,
        findings=_known_once(change.findings, tuple(findings)),
    )
    return with_carried_numbers(change)


def _known_once(told: tuple[Finding, ...], known: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """What the stack file's own check found wins over what the engine's log repeats of it."""
    seen = {(finding.code, finding.path) for finding in known}
    return sort_findings([*known, *(finding for finding in told if (finding.code, finding.path) not in seen)])


def judge_change(
    change: Change,
    *,
    gates: Sequence[Gate] = (),
    allowed: AllowList | None = None,
    gpu_types: Collection[str] = (),
    over_limits: Sequence[str] = (),
) -> Report:
    """Return the report: dangers found, gates judged. Without gates there is no gate result."""
    dangers = find_dangers(change, gpu_types=gpu_types)
    allowed = allowed or AllowList()
    gate = None
    if gates or over_limits:
        gate = check_gates(
            change, dangers, gates, allowed=allowed.entries, notes=allowed.notes, over_limits=over_limits
        )
    return Report(change=change, dangers=dangers, gate=gate)


def render_report(report: Report, form: ReportFormat, *, limit: int = MAX_COMMENT_CHARS) -> str:
    """Return one stack's report; every form goes once more through the redaction as a whole."""
    match form:
        case ReportFormat.MARKDOWN:
            return _guard(render_markdown(report.change, report.dangers, report.gate, limit=limit))
        case ReportFormat.SUMMARY:
            return _guard(render_step_summary(report.change, report.dangers, report.gate))
        case ReportFormat.TEXT:
            return _guard(render_plain_text(report.change, report.dangers, report.gate))
        case ReportFormat.JSON:
            return render_json(report.change, report.dangers, report.gate)
    raise AssertionError(form)


def report_documents(reports: Iterable[Report]) -> list[dict[str, object]]:
    """Return the reports of several stacks as plain values."""
    return [report_document(report.change, report.dangers, report.gate) for report in reports]


def _guard(text: str) -> str:
    """The last net: line by line, so that a find hides one line's secret and never swallows the report."""
    return "".join(redact_text(line) for line in text.splitlines(keepends=True))
