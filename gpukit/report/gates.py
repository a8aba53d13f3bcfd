"""
Gates: conditions on a change that stop a pipeline (`--fail-on`), and the allow list that lets one exact thing through.

A gate that cannot be judged refuses: `cost>500` with an unknown cost is a refusal, never a pass. The allow list comes
from the base revision, so that a pull request cannot allow itself, and its approver must be an owner of the list by
that revision's CODEOWNERS.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpukit.finding import Severity
from gpukit.nearest import nearest
from gpukit.report.allow_list import AllowEntry
from gpukit.report.change import UNKNOWN, Action, Change
from gpukit.report.danger import Danger, Harm
from gpukit.report.property_paths import value_at

EXIT_REFUSED: Final = 4


class GateKind(StrEnum):
    """What a gate looks at, in the user's words."""

    REPLACE = "replace"
    DELETE = "delete"
    DANGER = "danger"
    COST = "cost"
    COST_MONTH = "cost-month"
    COST_DELTA = "cost-delta"
    GPUS = "gpus"
    UNKNOWN = "unknown"
    FINDING = "finding"
    LIMITS = "limits"
    """An organisation's limits; always on where a project has some."""
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One condition. `limit` in the gate's unit: dollars an hour, dollars a month, GPUs."""

    kind: GateKind
    limit: float | None = None
    code: str = ""
    origin: str = "--fail-on"

    def __str__(self) -> str:
        if self.kind is GateKind.FINDING:
            return f"finding:{self.code}"
        return self.kind.value if self.limit is None else f"{self.kind.value}>{self.limit:.15g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """One thing that a gate refuses; `what` is a whole sentence without full stop."""

    gate: Gate
    what: str
    urn: str = ""
    name: str = ""
    type_token: str = ""
    allowed_by: AllowEntry | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """What all gates say: refusals that stand, those that the allow list lifts, and what is wrong with the list."""

    refusals: tuple[Refusal, ...] = ()
    lifted: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    gates: tuple[Gate, ...] = ()

    @property
    def refused(self) -> bool:
        """Whether the pipeline stops."""
        return bool(self.refusals)

    @property
    def reason(self) -> str:
        """The first line: which gate refuses what; "" where none does."""
        if not self.refusals:
            return ""
        first = self.refusals[0]
        more = len(self.refusals) - 1
        return f"gate {first.gate}: {first.what}" + (f" (and {more:,} more, all listed below)" if more else "")


class BadGate(ValueError):
    """A word in --fail-on that is no gate; for people."""


_LIMITED: Final = re.compile(r"^(cost|cost-month|cost-delta|gpus)\s*>\s*([0-9][0-9_]*(?:\.[0-9]+)?)$")
_BARE: Final = frozenset({GateKind.REPLACE, GateKind.DELETE, GateKind.DANGER, GateKind.UNKNOWN, GateKind.INCOMPLETE})
_FORMS: Final = (
    "replace",
    "delete",
    "danger",
    "unknown",
    "incomplete",
    "cost>N",
    "cost-month>N",
    "cost-delta>N",
    "gpus>N",
    "finding:GK1234",
)


def parse_gates(text: str) -> tuple[Gate, ...]:
    """Return the gates of a comma-separated list, once each, in its order; raises BadGate for people."""
    gates: list[Gate] = []
    for word in (part.strip() for part in text.split(",")):
        if not word:
            continue
        gate = _parse_gate(word)
        if gate not in gates:
            gates.append(gate)
    return tuple(gates)


def budget_gates(*, hourly_usd: float | None, monthly_usd: float | None) -> tuple[Gate, ...]:
    """Return the gates that a stack's `budget` section is."""
    gates = []
    if hourly_usd is not None:
        gates.append(Gate(kind=GateKind.COST, limit=hourly_usd, origin="budget.hourly_usd"))
    if monthly_usd is not None:
        gates.append(Gate(kind=GateKind.COST_MONTH, limit=monthly_usd, origin="budget.monthly_usd"))
    return tuple(gates)


def check_gates(
    change: Change,
    dangers: Sequence[Danger],
    gates: Iterable[Gate],
    *,
    allowed: Iterable[AllowEntry] = (),
    notes: Iterable[str] = (),
    over_limits: Iterable[str] = (),
) -> GateResult:
    """
    Return what the gates say about a change.

    `allowed` are entries that already hold for this stack and day (see `allow_list.valid_entries`). A preview that did
    not finish is refused whenever any gate is set: what is missing from it cannot be judged. `over_limits` says what
    breaks an organisation's limits; no allow list lifts that.
    """
    gates = tuple(gates)
    found: list[Refusal] = []
    for gate in gates:
        found.extend(_refusals_of(gate, change, dangers))
    limits = Gate(kind=GateKind.LIMITS, origin="organisation")
    found.extend(Refusal(gate=limits, what=says) for says in over_limits)
    # Last, because what else is refused says more to whoever reads only the first line.
    if gates and not change.complete:
        found.append(
            Refusal(
                gate=Gate(kind=GateKind.INCOMPLETE, origin="always"),
                what="the preview did not finish, so the other gates saw only a part of it",
            )
        )
    entries = tuple(allowed)
    notes = [*notes, *_price_notes(gates, change)]
    refusals, lifted = [], []
    for refusal in dict.fromkeys(found):
        entry = next((entry for entry in entries if _covers(entry, refusal)), None)
        if entry is None:
            refusals.append(refusal)
        else:
            lifted.append(
                Refusal(
                    gate=refusal.gate,
                    what=refusal.what,
                    urn=refusal.urn,
                    name=refusal.name,
                    type_token=refusal.type_token,
                    allowed_by=entry,
                )
            )
    return GateResult(refusals=tuple(refusals), lifted=tuple(lifted), notes=tuple(notes), gates=gates)


def _parse_gate(word: str) -> Gate:
    limited = _LIMITED.match(word)
    if limited:
        return Gate(kind=GateKind(limited.group(1)), limit=float(limited.group(2).replace("_", "")))
    if word.startswith("finding:"):
        code = word.removeprefix("finding:").strip()
        if not re.fullmatch(r"GK\d{4}|error|warning|unknown", code):
            raise BadGate(f"--fail-on: `{word}` names no finding; write finding:GK2041 or finding:error")
        return Gate(kind=GateKind.FINDING, code=code)
    if word in _BARE:
        return Gate(kind=GateKind(word))
    guess = nearest(word.split(">")[0].split(":")[0], [form.split(">")[0].split(":")[0] for form in _FORMS])
    hint = f"; did you mean `{next(form for form in _FORMS if form.startswith(guess[0]))}`" if guess else ""
    raise BadGate(f"--fail-on: `{word}` is no gate{hint}; valid are {', '.join(_FORMS)}")


def _refusals_of(gate: Gate, change: Change, dangers: Sequence[Danger]) -> list[Refusal]:
    match gate.kind:
        case GateKind.REPLACE:
            return _by_action(gate, change, Action.REPLACE, "would be replaced")
        case GateKind.DELETE:
            return _by_action(gate, change, Action.DELETE, "would be deleted") + _by_action(
                gate, change, Action.FORGET, "would be left behind in the cloud"
            )
        case GateKind.DANGER:
            return [
                Refusal(
                    gate=gate,
                    what=f'{danger.subject} "{danger.step.name}" would be {_harm_words(danger.harm)}',
                    urn=danger.step.urn,
                    name=danger.step.name,
                    type_token=danger.step.type_token,
                )
                for danger in dangers
            ]
        case GateKind.COST:
            return _over(gate, change.after.hourly_usd, "list price", "$/hour")
        case GateKind.COST_MONTH:
            return _over(gate, change.after.monthly_usd, "list price", "$/month")
        case GateKind.COST_DELTA:
            before, after = change.before.hourly_usd, change.after.hourly_usd
            delta = None if before is None or after is None else after - before
            return _over(gate, delta, "rise of the list price", "$/hour")
        case GateKind.GPUS:
            return _over(gate, change.after.gpus, "size", "GPUs")
        case GateKind.UNKNOWN:
            return _unknowns(gate, change)
        case GateKind.FINDING:
            return [
                Refusal(gate=gate, what=f"{finding.code} at {finding.path}: {finding.problem}", name=finding.path)
                for finding in change.findings
                if gate.code in (finding.code, finding.severity.value)
            ]
        case GateKind.INCOMPLETE | GateKind.LIMITS:
            return []
    raise AssertionError(gate.kind)


def _by_action(gate: Gate, change: Change, action: Action, words: str) -> list[Refusal]:
    return [
        Refusal(
            gate=gate,
            what=f'"{step.name}" ({step.type_token}) {words}'
            + (f", forced by {', '.join(step.forced_by)}" if step.forced_by else ""),
            urn=step.urn,
            name=step.name,
            type_token=step.type_token,
        )
        for step in change.steps
        if step.action is action
    ]


def _over(gate: Gate, value: float | None, what: str, unit: str) -> list[Refusal]:
    limit = gate.limit or 0.0
    origin = "" if gate.origin == "--fail-on" else f" of {gate.origin}"
    if value is None:
        words = f"the {what} in {unit} is unknown, so the limit {_amount(limit)}{origin} cannot be kept"
        return [Refusal(gate=gate, what=words)]
    if value > limit:
        return [
            Refusal(gate=gate, what=f"the {what} is {_amount(value)} {unit}, over the limit {_amount(limit)}{origin}")
        ]
    return []


def _amount(value: float) -> str:
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.2f}"


def _price_notes(gates: tuple[Gate, ...], change: Change) -> list[str]:
    """A sum that leaves lines out still judges what it holds; the gate `unknown` refuses what is missing."""
    priced = any(gate.kind in (GateKind.COST, GateKind.COST_MONTH, GateKind.COST_DELTA) for gate in gates)
    if not priced or not change.after.unpriced:
        return []
    return [f"{change.after.unpriced} cost lines have no known price; the cost gates judged the sum of the others"]


def _unknowns(gate: Gate, change: Change) -> list[Refusal]:
    found = [
        Refusal(gate=gate, what=f"{label} after the change is unknown", name=label)
        for label, value in (
            ("the number of GPUs", change.after.gpus),
            ("the number of nodes", change.after.nodes),
            ("the cost an hour", change.after.hourly_usd),
            ("the power", change.after.it_kw),
        )
        if value is None
    ]
    if change.after.unpriced:
        lines = "1 cost line has" if change.after.unpriced == 1 else f"{change.after.unpriced} cost lines have"
        found.append(Refusal(gate=gate, what=f"{lines} no known price", name="the cost an hour"))
    found += [
        Refusal(
            gate=gate,
            what=f"{finding.code} at {finding.path} could not be checked: {finding.problem}",
            name=finding.path,
        )
        for finding in change.findings
        if finding.severity is Severity.UNKNOWN
    ]
    for step in change.steps:
        if step.action is not Action.REPLACE:
            continue
        found += [
            Refusal(
                gate=gate,
                what=f'"{step.name}" would be replaced only because {path} is not known yet',
                urn=step.urn,
                name=step.name,
                type_token=step.type_token,
            )
            for path in step.forced_by
            if value_at(step.after, path) is UNKNOWN
        ]
    return found


def _covers(entry: AllowEntry, refusal: Refusal) -> bool:
    if refusal.gate.kind in (GateKind.INCOMPLETE, GateKind.LIMITS):
        return False
    return entry.covers(
        str(refusal.gate), refusal.gate.kind.value, name=refusal.name, type_token=refusal.type_token, urn=refusal.urn
    )


def _harm_words(harm: Harm) -> str:
    return harm.value
