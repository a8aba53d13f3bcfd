"""Say in one line what a change comes to: the verdict, the counts and the numbers people decide by."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpukit.finding import Severity
from gpukit.report.change import Action, Change, Numbers
from gpukit.report.danger import Danger
from gpukit.report.gates import GateResult

TOTALS_ALONE: Final = (
    "No resource would be touched: what moved are the totals that gpukit counts from the stack file, such as nodes "
    "that no resource states (an existing cluster, a size that a scaler or a schedule holds), prices, power or carbon."
)
"""What a person needs to know where resources and numbers disagree."""


class Verdict(StrEnum):
    """In order of what needs a person's eye first."""

    REFUSED = "Refused"
    INCOMPLETE = "Incomplete"
    DANGER = "Danger"
    FINDINGS = "Errors found"
    CHANGES = "Changes"
    ONLY_TOTALS = "Only totals change"
    """No resource would be touched, and the numbers before and after differ all the same."""
    NO_CHANGES = "No changes"


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberLine:
    """One number before and after, as text; `moved` tells whether it changed or cannot be known."""

    label: str
    before: str
    after: str
    delta: str
    moved: bool


def judge(change: Change, dangers: tuple[Danger, ...], gate: GateResult | None) -> Verdict:
    """Return the verdict; a refused gate wins over an incomplete preview, which wins over the rest."""
    if gate is not None and gate.refused:
        return Verdict.REFUSED
    if not change.complete:
        return Verdict.INCOMPLETE
    if dangers:
        return Verdict.DANGER
    if any(finding.severity is Severity.ERROR for finding in change.findings):
        return Verdict.FINDINGS
    if not change.is_empty:
        return Verdict.CHANGES
    return Verdict.ONLY_TOTALS if totals_moved(change) else Verdict.NO_CHANGES


def totals_moved(change: Change) -> bool:
    """Tell whether a number that is known on both sides differs; an unknown one tells nothing."""
    return any(
        line.moved and "?" not in (line.before, line.after) for line in number_lines(change.before, change.after)
    )


def count_words(change: Change) -> str:
    """Return the counts in words: `3 to create, 1 to replace, 40 unchanged`."""
    words = [
        f"{change.count(action):,} to {verb}"
        for action, verb in (
            (Action.CREATE, "create"),
            (Action.IMPORT, "import"),
            (Action.UPDATE, "update"),
            (Action.REPLACE, "replace"),
            (Action.DELETE, "delete"),
            (Action.FORGET, "forget"),
        )
        if change.count(action)
    ]
    return ", ".join([*words, f"{change.unchanged:,} unchanged"] if change.unchanged or not words else words)


def number_lines(before: Numbers, after: Numbers) -> tuple[NumberLine, ...]:
    """Return the numbers in reading order; a value nobody knows is `?` and counts as moved."""
    return (
        _line("GPUs", before.gpus, after.gpus, 0),
        _line("nodes", before.nodes, after.nodes, 0),
        _line("$/hour", before.hourly_usd, after.hourly_usd, 2),
        _line("$/month", before.monthly_usd, after.monthly_usd, 0),
        _line("kW", before.it_kw, after.it_kw, 1),
        _line("kgCO2e/month", before.kgco2e_per_month, after.kgco2e_per_month, 0),
    )


def numbers_in_a_line(before: Numbers, after: Numbers) -> str:
    """Return all numbers on one line: `GPUs 512 -> 1,024 · nodes 64 -> 128 · ...`."""
    return " · ".join(
        f"{line.label} {line.before} -> {line.after}" if line.moved else f"{line.label} {line.after}"
        for line in number_lines(before, after)
    )


def _line(label: str, before: float | None, after: float | None, digits: int) -> NumberLine:
    shown_before, shown_after = _shown(before, digits), _shown(after, digits)
    if before is None or after is None:
        # Both unknown is no movement that anybody can see, but it is not "unchanged" either.
        return NumberLine(label=label, before=shown_before, after=shown_after, delta="unknown", moved=True)
    delta = after - before
    moved = shown_before != shown_after
    text = f"{delta:+,.{digits}f}" if moved else "0"
    if moved and before:
        share = delta / before
        text += f" ({share:+.0%})" if abs(share) >= 0.01 else f" ({share:+.1%})"
    return NumberLine(label=label, before=shown_before, after=shown_after, delta=text, moved=moved)


def _shown(value: float | None, digits: int) -> str:
    return "?" if value is None else f"{value:,.{digits}f}"
