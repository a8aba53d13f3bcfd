"""What a check tells: one mistake, risk or unanswered question, as data."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum


class Severity(StrEnum):
    """How much a finding matters: an error stops, a warning and an unknown are shown and counted."""

    ERROR = "error"
    WARNING = "warning"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """Where something stands in a user's file; line and column count from 1."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    One thing a check has to say.

    `path` is the key path as in the user's own file (`pools.train.nodes`), `problem` names both values that clash,
    `why` gives the reason in the world, `fix` what to type instead, `source` where the rule can be read.
    """

    code: str
    severity: Severity
    path: str
    problem: str
    why: str
    fix: str
    source: str = ""
    position: Position | None = None

    def at(self, position: Position | None) -> "Finding":
        """Return the finding with the place in the user's file."""
        return replace(self, position=position)


def sort_findings(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings once each, by path, then code, then text: the same order on every run."""
    return tuple(sorted(set(findings), key=lambda f: (f.path, f.code, f.problem, f.fix)))


def has_errors(findings: Iterable[Finding]) -> bool:
    """Tell whether any finding is of level error."""
    return any(finding.severity is Severity.ERROR for finding in findings)
