"""Findings as workflow commands: GitHub shows them beside the line in the pull request."""

from collections.abc import Iterable

from gpukit.checks.plain import plain
from gpukit.finding import Finding, Severity

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNKNOWN: "notice"}


def render_github(findings: Iterable[Finding]) -> str:
    """Return one `::error file=...,line=...::` command for each finding; nothing in it can start another command."""
    return "".join(_command(finding) + "\n" for finding in findings)


def _command(finding: Finding) -> str:
    properties: list[str] = []
    place = finding.position
    if place is not None and not place.file.startswith("presets/"):
        properties += [f"file={_property(place.file)}", f"line={place.line}", f"col={place.column}"]
    properties.append(f"title={_property(f'{finding.code} {finding.path}'.strip())}")
    text = f"{finding.problem}\nwhy: {finding.why}\nfix: {finding.fix}"
    return f"::{_COMMANDS[finding.severity]} {','.join(properties)}::{_data(text)}"


def _data(text: str) -> str:
    lines = (plain(line) for line in text.split("\n"))
    return "%0A".join(line.replace("%", "%25").replace("\r", "%0D") for line in lines)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
