"""Findings as text for people: what, where, why and how to fix it, understandable without colour."""

from collections.abc import Iterable

from gpukit.checks.plain import plain
from gpukit.checks.rule import SuppressedFinding
from gpukit.finding import Finding, Severity

_WORDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNKNOWN: "unknown"}
_PLURAL = {Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.UNKNOWN: "unknown"}


def render_text(findings: Iterable[Finding], suppressed: Iterable[SuppressedFinding] = ()) -> str:
    """Return all findings, those that were accepted with their reasons, and the counts; "" where there is nothing."""
    told, accepted = tuple(findings), tuple(suppressed)
    if not told and not accepted:
        return ""
    # errors first: what stops people must not stand below what does not
    parts = [render_one(finding) for severity in Severity for finding in told if finding.severity is severity]
    parts += [_accepted(item) for item in accepted]
    return "\n".join(parts) + "\n" + count_in_words(told, accepted) + "\n"


def render_one(finding: Finding) -> str:
    """
    Return one finding:

        GK2041 error   pools.train.zones: us-east-1b does not offer p5en.48xlarge
          at:   stacks/Pulumi.dev.yaml:12:5
          why:  ...
          fix:  ...
          docs: docs/codes/GK2041.md
    """
    head = f"{finding.code} {_WORDS[finding.severity]:<7} "
    where = f"{plain(finding.path)}: " if finding.path else ""
    lines = [head + where + plain(finding.problem)]
    if finding.position is not None:
        place = finding.position
        lines.append(f"  at:   {plain(place.file)}:{place.line}:{place.column}")
    lines.append(f"  why:  {plain(finding.why)}")
    lines.append(f"  fix:  {plain(finding.fix)}")
    lines.append(f"  docs: docs/codes/{finding.code}.md")
    return "\n".join(lines) + "\n"


def count_in_words(findings: Iterable[Finding], suppressed: Iterable[SuppressedFinding] = ()) -> str:
    """Return `1 error, 2 warnings, 3 unknown, 1 suppressed`; `no findings` where there are none."""
    told = tuple(findings)
    counts = {severity: sum(item.severity is severity for item in told) for severity in Severity}
    parts = [
        f"{count} {_WORDS[severity] if count == 1 else _PLURAL[severity]}"
        for severity, count in counts.items()
        if count
    ]
    accepted = len(tuple(suppressed))
    if accepted:
        parts.append(f"{accepted} suppressed")
    return ", ".join(parts) if parts else "no findings"


def _accepted(item: SuppressedFinding) -> str:
    until = f" until {item.until.isoformat()}" if item.until else ""
    return (
        f"{item.finding.code} accepted{until}: {plain(item.finding.path)}: {plain(item.finding.problem)}\n"
        f"  because: {plain(item.reason)}\n"
    )
