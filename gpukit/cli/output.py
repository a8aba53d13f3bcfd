"""Print: data on stdout, talk on stderr, findings the same way for every command."""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gpukit.finding import Finding, Severity

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_TERMINAL = 120
"""Columns of tables that go into a file or a pipe."""


def console() -> "Console":
    """Return the console for data."""
    from rich.console import Console

    class DataConsole(Console):
        """A console whose reader may leave (`head`, a pager) without that being a failure."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    terminal = sys.stdout.isatty()
    return DataConsole(highlight=False, soft_wrap=False, width=None if terminal else WIDTH_WITHOUT_TERMINAL)


def print_json(value: Any) -> None:
    """Print a value as sorted, indented JSON."""
    import json

    from gpukit.plan import to_jsonable

    sys.stdout.write(json.dumps(to_jsonable(value), indent=2, sort_keys=True, ensure_ascii=False) + "\n")


def say(text: str) -> None:
    """Print one line of talk."""
    sys.stderr.write(text + "\n")


def print_findings(findings: Iterable[Finding]) -> None:
    """Print findings on stderr, each with place, reason and fix, and count them."""
    from gpukit.checks.render_text import render_text

    told = tuple(findings)
    if told:
        sys.stderr.write(render_text(told))


def exit_code(findings: Iterable[Finding], *, unreadable: bool) -> int:
    """Return 2 for input that could not be read, 1 for findings of level error, else 0."""
    if unreadable:
        return 2
    return 1 if any(finding.severity is Severity.ERROR for finding in findings) else 0


def number(value: float | None, digits: int = 0, unit: str = "") -> str:
    """Return a number with thousands separators, or `unknown`."""
    if value is None:
        return "unknown"
    return f"{value:,.{digits}f}{unit}"


def usd(value: float | None) -> str:
    """Return dollars: cents below 100, whole dollars above."""
    if value is None:
        return "unknown"
    return f"${value:,.2f}" if abs(value) < 100 else f"${value:,.0f}"
