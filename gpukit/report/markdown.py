"""
Render a change as Markdown: the pull-request comment.

The comment is built of blocks in order of importance. The head line, Danger and the refusals are always whole; the
rest is filled in until the limit, row by row, and what did not fit is counted in words. Danger has three forms, from
a paragraph for each to a line for each kind, so that it fits without hiding one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from gpukit.counted import counted
from gpukit.finding import Finding, Severity
from gpukit.report.change import UNKNOWN, Action, Change, ReplaceOrder, ResourceStep, name_of
from gpukit.report.danger import Danger, Harm
from gpukit.report.engine_digest import SOURCE as ENGINE_DIGEST
from gpukit.report.escaping import code, prose, value_text
from gpukit.report.gates import GateResult
from gpukit.report.verdict import TOTALS_ALONE, Verdict, count_words, judge, number_lines, numbers_in_a_line
from gpukit.report.wording import (
    change_words,
    danger_words,
    errors_first,
    short_type,
    worst_findings_first,
)

MAX_COMMENT_CHARS: Final = 60_000
"""GitHub refuses over 65,536 characters; the rest is room for markers. Source: GitHub API error text, 2026-08."""

WORST_FIRST: Final = (
    Action.REPLACE, Action.DELETE, Action.FORGET, Action.UPDATE, Action.IMPORT, Action.CREATE
)  # fmt: skip
_MAX_CHANGES_IN_ROW: Final = 6
_MAX_NAMES_IN_ROW: Final = 12
_MORE_ROOM: Final = 200
_FINDINGS_HEAD: Final = "| code | level | path | problem and fix |\n|---|---|---|---|"
_TABLE_HEAD: Final = "| what | type | name | details |\n|---|---|---|---|"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A heading or opening, rows, and a closing; `more` words the rows that did not fit."""

    opening: str
    rows: tuple[str, ...]
    closing: str = ""
    more: str = "| | | | and {count:,} more rows; none of them is a danger, all dangers are above |"


def render_markdown(
    change: Change,
    dangers: Sequence[Danger],
    gate: GateResult | None = None,
    *,
    limit: int = MAX_COMMENT_CHARS,
) -> str:
    """Return the section of one stack, at most `limit` characters, ending in a newline."""
    head = _head(change, tuple(dangers), gate)
    fixed = [head, *totals_alone(change, dangers, gate), *numbers_table(change)]
    refusals = refusals_section(gate)
    dangers_text = danger_section(
        dangers, change.source, budget=limit - len("\n\n".join(fixed)) - len(refusals) - 1_500
    )
    text = "\n\n".join([part for part in [*fixed, refusals, dangers_text] if part]) + "\n"
    for block in _blocks(change, dangers, gate):
        room = limit - len(text) - _MORE_ROOM
        text += _fit(block, room)
    return text


def head_line(change: Change, dangers: Sequence[Danger], gate: GateResult | None) -> str:
    """Return the first line: verdict, stack, counts, numbers."""
    return _head(change, tuple(dangers), gate)


def _head(change: Change, dangers: tuple[Danger, ...], gate: GateResult | None) -> str:
    verdict = judge(change, dangers, gate)
    words = f"**{verdict.value}**"
    if change.stack:
        words += f" on {code(change.stack)}"
    if gate is not None and gate.refused:
        words += f": {prose(gate.reason, 300)}"
    elif dangers:
        words += f": {len(dangers):,} {'thing needs' if len(dangers) == 1 else 'things need'} a decision"
    elif verdict is Verdict.INCOMPLETE:
        words += ": the preview did not finish"
    numbers = numbers_in_a_line(change.before, change.after).replace("->", "→")
    return f"{words} · {count_words(change)} · " + numbers.replace("$/", "\\$/")


def numbers_table(change: Change) -> list[str]:
    """Return the table of the numbers that move; empty where none does or none is known."""
    lines = number_lines(change.before, change.after)
    if not any(line.moved for line in lines) or all(line.before == line.after == "?" for line in lines):
        return []
    rows = [
        f"| {line.label} | {line.before} | {line.after} | {line.delta} |".replace("$/", "\\$/")
        for line in lines
        if line.moved
    ]
    if change.after.unpriced:
        rows.append(f"| cost lines without a known price | | {change.after.unpriced} | not in the sums |")
    return ["| | before | after | change |\n|---|--:|--:|--:|\n" + "\n".join(rows)]


def totals_alone(change: Change, dangers: Sequence[Danger], gate: GateResult | None) -> list[str]:
    """Return why numbers move where no resource does; empty where that is not so."""
    return [TOTALS_ALONE] if judge(change, tuple(dangers), gate) is Verdict.ONLY_TOTALS else []


def refusals_section(gate: GateResult | None) -> str:
    """Return every gate that refuses, and what; beyond 50 one line for each gate."""
    if gate is None or not gate.refused:
        return ""
    lines = [f"- {code(str(refusal.gate))} {prose(refusal.what)}" for refusal in gate.refusals]
    if len(lines) > 50:
        by_gate = groupby(sorted(gate.refusals, key=lambda r: str(r.gate)), key=lambda r: str(r.gate))
        lines = [
            f"- {code(name)} refuses {len(list(group)):,} things; each is in Danger or in the tables"
            for name, group in by_gate
        ]
    return "### Refused\n" + "\n".join(lines)


def danger_section(dangers: Sequence[Danger], source: str, *, budget: int) -> str:
    """Return all dangers in the longest of four forms that fits `budget` characters."""
    if not dangers:
        return ""
    forms: tuple[Callable[[Sequence[Danger]], list[str]], ...] = (
        _dangers_in_full,
        _dangers_in_short,
        _dangers_by_kind,
        _dangers_counted,
    )
    text = ""
    for form in forms:
        text = f"### Danger ({len(dangers):,})\n" + "\n".join(form(dangers))
        if len(text) <= budget:
            break
    from_engine = source == ENGINE_DIGEST
    if from_engine and any(d.step.action is Action.REPLACE and d.step.order is ReplaceOrder.NOT_SAID for d in dangers):
        text += "\n\nThe preview does not say which half of a replacement comes first; `--show-replacement-steps` does."
    return text


def _dangers_in_full(dangers: Sequence[Danger]) -> list[str]:
    return [f"- {danger_words(danger, code, prose)}" for danger in dangers]


def _dangers_in_short(dangers: Sequence[Danger]) -> list[str]:
    return [
        f"- {danger.subject} {code(danger.step.name, 80)} **{danger.harm.value}**"
        + (f" by {code(', '.join(danger.step.forced_by), 60)}" if danger.step.forced_by else "")
        for danger in dangers
    ]


def _dangers_by_kind(dangers: Sequence[Danger]) -> list[str]:
    return [
        f"- {len(group):,} x {subject} **{harm.value}**: " + ", ".join(code(danger.step.name, 40) for danger in group)
        for (subject, harm), group in _by_kind(dangers)
    ]


def _dangers_counted(dangers: Sequence[Danger]) -> list[str]:
    return [
        f"- {len(group):,} x {subject} **{harm.value}**, {sum(danger.nodes or 0 for danger in group):,} nodes; "
        "too many to name here, all names are in the JSON report"
        for (subject, harm), group in _by_kind(dangers)
    ]


def _by_kind(dangers: Sequence[Danger]) -> list[tuple[tuple[str, Harm], list[Danger]]]:
    kinds: dict[tuple[str, Harm], list[Danger]] = {}
    for danger in dangers:
        kinds.setdefault((danger.subject, danger.harm), []).append(danger)
    return list(kinds.items())


def _blocks(change: Change, dangers: Sequence[Danger], gate: GateResult | None) -> Iterable[_Block]:
    yield from _finding_blocks(change)
    yield from _message_blocks(change)
    yield from _gate_notes(gate)
    dangerous = {danger.step.urn for danger in dangers}
    shown = [step for step in change.steps_that_change if not step.is_tag_only and not step.is_computed_only]
    # Updates, replacements and deletions say more than creations: components with only the latter come last.
    changed = {step.component for step in shown if step.action is not Action.CREATE}
    components = sorted({step.component for step in shown}, key=lambda name: (name not in changed, name))
    for component in components:
        yield _component_block(component, [step for step in shown if step.component == component], dangerous)
    unknown = [row for step in shown if (row := _unknown_row(step))]
    if unknown:
        yield _folded(f"Known only after the update: {counted(len(unknown), 'resource')}", unknown)
    tags = [step for step in change.steps if step.is_tag_only]
    if tags:
        yield _folded(f"Tags only: {counted(len(tags), 'resource')}", _noise_rows(tags))
    computed = [step for step in change.steps if step.is_computed_only]
    if computed:
        yield _folded(f"Computed again by the provider: {counted(len(computed), 'resource')}", _noise_rows(computed))
    notes = [f"- {prose(note)}" for note in change.notes]
    if not change.is_empty or not change.complete:
        yield _folded(f"About this report (source: {change.source})", notes or ["- complete"])


def _finding_blocks(change: Change) -> Iterable[_Block]:
    if not change.findings:
        return
    rows = [
        f"| {finding.code} | {finding.severity.value} | {code(finding.path)} | {prose(finding.problem, 300)}; "
        f"fix: {prose(finding.fix, 300)} |"
        for finding in worst_findings_first(change.findings)
    ]
    yield _Block(
        opening=f"### Findings ({level_counts(change.findings)})\n{_FINDINGS_HEAD}",
        rows=tuple(rows),
        more="| | | | and {count:,} more findings of the same or a lower level |",
    )


def level_counts(findings: Iterable[Finding]) -> str:
    """Return `1 error, 2 warning`: the levels that occur, worst first."""
    levels = [finding.severity for finding in findings]
    return ", ".join(f"{levels.count(level)} {level.value}" for level in Severity if level in levels)


def _message_blocks(change: Change) -> Iterable[_Block]:
    rows = [
        f"- {message.level}{' at ' + code(name_of(message.urn)) if message.urn else ''}: {prose(message.text, 600)}"
        for message in errors_first(change.messages)
    ]
    if rows:
        yield _Block(opening="### What the engine says", rows=tuple(rows), more="- and {count:,} more messages")


def _gate_notes(gate: GateResult | None) -> Iterable[_Block]:
    if gate is None:
        return
    rows = [
        f"- let through: {code(str(refusal.gate))} {prose(refusal.what)}: {prose(refusal.allowed_by.reason)} "
        f"(until {refusal.allowed_by.expires}, {prose(refusal.allowed_by.approver)})"
        for refusal in gate.lifted
        if refusal.allowed_by
    ] + [f"- {prose(note)}" for note in gate.notes]
    if rows:
        yield _Block(opening="### Allow list", rows=tuple(rows), more="- and {count:,} more")


def _component_block(component: str, steps: list[ResourceStep], dangerous: set[str]) -> _Block:
    steps = sorted(steps, key=lambda step: (WORST_FIRST.index(step.action), step.type_token, step.name))
    rows: list[str] = []
    for (action, token), group in groupby(steps, key=lambda step: (step.action, step.type_token)):
        members = list(group)
        if action in (Action.UPDATE, Action.REPLACE) or any(step.renamed_from for step in members):
            rows.extend(_step_row(step, dangerous) for step in members)
        else:
            rows.extend(_name_rows(action, token, members))
    title = code(component) if component else "the stack itself"
    return _Block(opening=f"### In {title} ({len(steps):,})\n{_TABLE_HEAD}", rows=tuple(rows))


def _step_row(step: ResourceStep, dangerous: set[str]) -> str:
    changes = [change for change in step.changes if not change.computed] or list(step.changes)
    changes.sort(key=lambda change: (not change.forces_replacement, change.path))
    details = [change_words(change, code) for change in changes[:_MAX_CHANGES_IN_ROW]]
    if len(changes) > _MAX_CHANGES_IN_ROW:
        details.append(f"and {len(changes) - _MAX_CHANGES_IN_ROW:,} more properties")
    if step.renamed_from:
        details.insert(0, f"renamed from {code(step.renamed_from)}")
    word = f"**{step.action.value}**" if step.urn in dangerous else step.action.value
    return f"| {word} | {code(short_type(step.type_token))} | {code(step.name)} | {'<br>'.join(details)} |"


def _name_rows(action: Action, token: str, steps: list[ResourceStep]) -> list[str]:
    rows = []
    for start in range(0, len(steps), _MAX_NAMES_IN_ROW):
        part = steps[start : start + _MAX_NAMES_IN_ROW]
        names = ", ".join(code(step.name) for step in part)
        size = f"{len(part)} x" if len(part) > 1 else ""
        rows.append(f"| {action.value} | {code(short_type(token))} | {names} | {size} |")
    return rows


def _unknown_row(step: ResourceStep) -> str:
    unknown = [change.path for change in step.changes if change.after is UNKNOWN]
    if step.action is Action.CREATE:
        return ""  # Everything that refers to a new thing is unknown there; it says nothing about the change.
    return f"- {code(step.name)}: {', '.join(code(path) for path in unknown[:10])}" if unknown else ""


def _noise_rows(steps: list[ResourceStep]) -> list[str]:
    """One line for each set of changes, however many resources share it."""
    groups: dict[str, list[str]] = {}
    for step in steps:
        paths = ", ".join(
            f"{code(change.path)} {code(value_text(change.before, 40))} → {code(value_text(change.after, 40))}"
            if not change.computed
            else code(change.path)
            for change in [c for c in step.changes if not c.path.startswith("tagsAll")][:4] or step.changes[:1]
        )
        groups.setdefault(paths, []).append(step.name)
    return [
        f"- {paths}: {', '.join(code(name) for name in names[:_MAX_NAMES_IN_ROW])}"
        + (f" and {len(names) - _MAX_NAMES_IN_ROW:,} more" if len(names) > _MAX_NAMES_IN_ROW else "")
        for paths, names in groups.items()
    ]


def _folded(summary: str, rows: Iterable[str]) -> _Block:
    return _Block(
        opening=f"<details><summary>{summary}</summary>\n",
        rows=tuple(rows),
        closing="\n</details>",
        more="- and {count:,} more; none of them is a danger",
    )


def _fit(block: _Block, room: int) -> str:
    """Return the block with as many rows as the room allows; nothing but a count where not even one fits."""
    used = len(block.opening) + len(block.closing) + 3
    kept: list[str] = []
    for row in block.rows:
        if used + len(row) + 1 > room:
            break
        kept.append(row)
        used += len(row) + 1
    missing = len(block.rows) - len(kept)
    if not kept:
        line = f"\n({len(block.rows):,} more rows did not fit; none of them is a danger)\n"
        return line if len(line) < room else ""
    if missing:
        kept.append(block.more.format(count=missing))
    return "\n" + "\n".join([block.opening, *kept]) + block.closing + "\n"
