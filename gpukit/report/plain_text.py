"""Render a change for a terminal: no colour needed, no line that an untrusted name could break or hide."""

from collections.abc import Sequence

from gpukit.counted import counted
from gpukit.report.change import Action, Change, name_of
from gpukit.report.danger import Danger
from gpukit.report.escaping import terminal
from gpukit.report.gates import GateResult
from gpukit.report.verdict import TOTALS_ALONE, Verdict, count_words, judge, numbers_in_a_line
from gpukit.report.wording import (
    change_words,
    danger_words,
    errors_first,
    short_type,
    worst_findings_first,
)

_SIGNS = {
    Action.CREATE: "+",
    Action.IMPORT: "=",
    Action.UPDATE: "~",
    Action.REPLACE: "±",
    Action.DELETE: "-",
    Action.FORGET: "?",
}
_MAX_CHANGES = 12


def render_plain_text(change: Change, dangers: Sequence[Danger], gate: GateResult | None = None) -> str:
    """Return the report as text, first the verdict; nothing is cut."""
    verdict = judge(change, tuple(dangers), gate)
    lines = [
        f"{verdict.value}{f' on {terminal(change.stack)}' if change.stack else ''}"
        + (f": {terminal(gate.reason)}" if gate is not None and gate.refused else ""),
        f"  {count_words(change)}",
        f"  {numbers_in_a_line(change.before, change.after)}",
    ]
    if verdict is Verdict.ONLY_TOTALS:
        lines += [f"  {TOTALS_ALONE}"]
    if gate is not None and gate.refused:
        lines += ["", "Refused", *(f"  {refusal.gate}: {terminal(refusal.what)}" for refusal in gate.refusals)]
    if dangers:
        lines += ["", f"Danger ({len(dangers):,})"]
        lines += [f"  {danger_words(danger, terminal, terminal).replace('**', '')}" for danger in dangers]
    if change.findings:
        lines += ["", f"Findings ({len(change.findings):,})"]
        for finding in worst_findings_first(change.findings):
            level = finding.severity.value
            lines.append(f"  {finding.code} {level} {terminal(finding.path)}: {terminal(finding.problem)}")
            lines.append(f"      fix: {terminal(finding.fix)}")
    if change.messages:
        lines += ["", "What the engine says"]
        lines += [
            f"  {message.level}{_at(message.urn)}: {terminal(message.text)}"
            for message in errors_first(change.messages)
        ]
    if gate is not None and (gate.lifted or gate.notes):
        lines += ["", "Allow list"]
        lines += [
            f"  let through: {refusal.gate}: {terminal(refusal.what)} ({terminal(refusal.allowed_by.reason)})"
            for refusal in gate.lifted
            if refusal.allowed_by
        ]
        lines += [f"  {terminal(note)}" for note in gate.notes]
    lines += _steps(change)
    if change.notes:
        lines += ["", *(f"note: {terminal(note)}" for note in change.notes)]
    return "\n".join(lines) + "\n"


def _steps(change: Change) -> list[str]:
    lines: list[str] = []
    shown = [step for step in change.steps_that_change if not step.is_tag_only and not step.is_computed_only]
    for component in sorted({step.component for step in shown}):
        lines += ["", terminal(component) or "the stack itself"]
        for step in shown:
            if step.component != component:
                continue
            renamed = f" (renamed from {terminal(step.renamed_from)})" if step.renamed_from else ""
            lines.append(f"  {_SIGNS[step.action]} {short_type(step.type_token)} {terminal(step.name)}{renamed}")
            changes = [item for item in step.changes if not item.computed] or list(step.changes)
            lines += [f"      {change_words(item, terminal)}" for item in changes[:_MAX_CHANGES]]
            if len(changes) > _MAX_CHANGES:
                lines.append(f"      and {len(changes) - _MAX_CHANGES:,} more properties")
    tags = sum(step.is_tag_only for step in change.steps)
    computed = sum(step.is_computed_only for step in change.steps)
    if tags:
        lines += ["", f"tags only: {counted(tags, 'resource')}"]
    if computed:
        lines += ["", f"computed again by the provider: {counted(computed, 'resource')}"]
    return lines


def _at(urn: str) -> str:
    return f" at {terminal(name_of(urn))}" if urn else ""
