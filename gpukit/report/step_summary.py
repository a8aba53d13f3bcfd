"""
Render a change for a job's summary page: what decides, and how much happens where.

The whole report, row by row, is in the comment and in the job's log; a summary that repeats it is read by nobody.
"""

from collections.abc import Sequence
from typing import Final

from gpukit.counted import counted
from gpukit.finding import Severity
from gpukit.report.change import Action, Change
from gpukit.report.danger import Danger
from gpukit.report.escaping import code, prose
from gpukit.report.gates import GateResult
from gpukit.report.markdown import (
    WORST_FIRST,
    danger_section,
    head_line,
    level_counts,
    numbers_table,
    refusals_section,
    totals_alone,
)
from gpukit.report.wording import worst_findings_first

_DANGER_CHARS: Final = 20_000
_MAX_ERRORS: Final = 20
_MAX_COMPONENTS: Final = 50


def render_step_summary(change: Change, dangers: Sequence[Danger], gate: GateResult | None = None) -> str:
    """Return the short form for a job's summary page: verdict, numbers, refusals, dangers, counts per component."""
    parts = [
        head_line(change, dangers, gate),
        *totals_alone(change, dangers, gate),
        *numbers_table(change),
        refusals_section(gate),
        danger_section(dangers, change.source, budget=_DANGER_CHARS),
        _engine_errors(change),
        _finding_counts(change),
        _counts_by_component(change),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _engine_errors(change: Change) -> str:
    errors = [message for message in change.messages if message.level == "error"]
    rows = [f"- {prose(message.text, 600)}" for message in errors[:_MAX_ERRORS]]
    if len(errors) > _MAX_ERRORS:
        rows.append(f"- and {counted(len(errors) - _MAX_ERRORS, 'more error')}")
    return "\n".join(["### What the engine says", *rows]) if rows else ""


def _finding_counts(change: Change) -> str:
    """Name every error, and count what is no error."""
    if not change.findings:
        return ""
    errors = [finding for finding in worst_findings_first(change.findings) if finding.severity is Severity.ERROR]
    rows = [
        f"- {finding.code} at {code(finding.path)}: {prose(finding.problem, 300)}" for finding in errors[:_MAX_ERRORS]
    ]
    if len(errors) > _MAX_ERRORS:
        rows.append(f"- and {counted(len(errors) - _MAX_ERRORS, 'more error')}")
    return "\n".join([f"### Findings ({level_counts(change.findings)})", *rows])


def _counts_by_component(change: Change) -> str:
    """One row for each component that changes, worst first, one column for each action that happens."""
    steps = change.steps_that_change
    actions = [action for action in WORST_FIRST if any(step.action is action for step in steps)]
    if not actions:
        return ""
    counts: dict[str, dict[Action, int]] = {}
    for step in steps:
        row = counts.setdefault(step.component, dict.fromkeys(actions, 0))
        row[step.action] += 1
    ordered = sorted(counts, key=lambda name: ([-counts[name][action] for action in actions], name))
    rows = [
        f"| {code(name) if name else 'the stack itself'} | "
        + " | ".join(f"{counts[name][action]:,}" if counts[name][action] else "" for action in actions)
        + " |"
        for name in ordered[:_MAX_COMPONENTS]
    ]
    if len(ordered) > _MAX_COMPONENTS:
        rows.append(f"| and {counted(len(ordered) - _MAX_COMPONENTS, 'more component')} |" + " |" * len(actions))
    head = f"| component | {' | '.join(action.value for action in actions)} |\n|---|{'--:|' * len(actions)}"
    return "\n".join([head, *rows])
