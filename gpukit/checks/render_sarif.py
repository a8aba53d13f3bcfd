"""Findings as SARIF 2.1.0, for code scanning in GitHub, GitLab, Azure DevOps and editors."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote

from gpukit import __version__
from gpukit.checks.index import title_of
from gpukit.checks.plain import plain
from gpukit.checks.rule import SuppressedFinding
from gpukit.finding import Finding, Severity

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.UNKNOWN: "note"}
"""SARIF has no level for "could not be decided": a note with the severity in its properties comes nearest."""


def render_sarif(
    findings: Iterable[Finding], suppressed: Iterable[SuppressedFinding] = (), *, file: str | None = None
) -> str:
    """
    Return a SARIF log of one run; rules are those that fired, accepted findings carry their justification.

    `file` stands in for findings without a place in the user's own file: code scanning wants one for each.
    """
    results: list[tuple[Finding, SuppressedFinding | None]] = [(finding, None) for finding in findings]
    results += [(item.finding, item) for item in suppressed]
    codes = sorted({finding.code for finding, _ in results})
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "gpukit",
                "semanticVersion": __version__,
                "rules": [_rule(code) for code in codes],
            }
        },
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True}],
        "results": [_result(finding, item, codes, file) for finding, item in results],
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _rule(code: str) -> dict[str, Any]:
    from gpukit.checks.explain import UnknownCode, explain_code

    rule: dict[str, Any] = {"id": code, "shortDescription": {"text": title_of(code)}}
    try:
        page = explain_code(code)
    except UnknownCode:
        return rule
    rule["fullDescription"] = {"text": page.why}
    rule["help"] = {"text": page.text, "markdown": page.text}
    return rule


def _result(finding: Finding, item: SuppressedFinding | None, codes: list[str], file: str | None) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": codes.index(finding.code),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{plain(finding.problem)}. Fix: {plain(finding.fix)}"},
        "locations": [_location(finding, file)],
        "partialFingerprints": {"gpukitFinding/v1": _fingerprint(finding)},
        "properties": {"severity": str(finding.severity), "source": finding.source},
    }
    if item is not None:
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": plain(item.reason)}]
    return result


def _location(finding: Finding, file: str | None) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if finding.path:
        location["logicalLocations"] = [{"fullyQualifiedName": plain(finding.path), "kind": "member"}]
    place = finding.position
    if place is not None and not place.file.startswith("presets/"):
        location["physicalLocation"] = {
            "artifactLocation": {"uri": _uri(place.file)},
            "region": {"startLine": place.line, "startColumn": place.column},
        }
    elif file is not None:
        location["physicalLocation"] = {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": 1}}
    return location


def _uri(file: str) -> str:
    return quote(file.replace("\\", "/"), safe="/-._~")


def _fingerprint(finding: Finding) -> str:
    """Return what stays the same when lines move and numbers change: code and key path."""
    return hashlib.sha256(f"{finding.code}|{finding.path}".encode("utf-8", "replace")).hexdigest()[:32]
