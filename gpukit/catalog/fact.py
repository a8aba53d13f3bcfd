"""A number that is told to people, with where and when it was read."""

from dataclasses import dataclass
from typing import Annotated

Filled = Annotated[str, "filled"]
"""Text of a table that may not be empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One sourced number. `source` holds slugs of `sources.csv` joined by `;`, `as_of` is an ISO date."""

    value: float
    unit: str
    source: str
    as_of: str
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a slug points to, and how far to trust it: high, medium, low or derived."""

    slug: Filled
    where: Filled
    kind: str
    trust: str
    note: str
    as_of: Filled


class CatalogError(ValueError):
    """
    A table that cannot be read: which cell, why, and what to write instead.

    `place` is the file with line and column as a person would look for it.
    """

    def __init__(self, problem: str, *, place: str, why: str, fix: str) -> None:
        super().__init__(f"{place}: {problem}; {why}; {fix}")
        self.problem = problem
        self.place = place
        self.why = why
        self.fix = fix


class UnknownName(LookupError):
    """
    A name that the catalogue does not hold.

    `near` are the names that look like it, best first; `valid` are all names, sorted.
    """

    def __init__(self, kind: str, name: str, valid: tuple[str, ...]) -> None:
        from gpukit.nearest import nearest

        self.kind = kind
        self.name = name
        self.valid = tuple(sorted(valid))
        self.near = nearest(name, self.valid)
        hint = f"; did you mean {' or '.join(f'`{near}`' for near in self.near)}?" if self.near else ""
        super().__init__(f"unknown {kind} `{name}`{hint}")
