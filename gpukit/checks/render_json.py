"""Findings as JSON: stable keys, the same bytes for the same findings."""

import json
from collections.abc import Iterable
from typing import Any

from gpukit.checks.rule import SuppressedFinding
from gpukit.finding import Finding, Severity

SCHEMA_VERSION = 1
"""Raised when a key changes its meaning or goes away."""


def render_json(
    findings: Iterable[Finding], suppressed: Iterable[SuppressedFinding] = (), *, not_run: Iterable[str] = ()
) -> str:
    """Return findings, accepted ones, counts, and the codes of rules that had no plan to look at."""
    told = tuple(findings)
    accepted = [
        {
            **finding_as_mapping(item.finding),
            "reason": item.reason,
            "until": item.until.isoformat() if item.until else None,
        }
        for item in suppressed
    ]
    value = {
        "schema_version": SCHEMA_VERSION,
        "findings": [finding_as_mapping(finding) for finding in told],
        "suppressed": accepted,
        "counts": {
            **{str(severity): sum(item.severity is severity for item in told) for severity in Severity},
            "suppressed": len(accepted),
        },
        "not_run": sorted(not_run),
    }
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def finding_as_mapping(finding: Finding) -> dict[str, Any]:
    """Return a finding as plain JSON values."""
    place = finding.position
    return {
        "code": finding.code,
        "severity": str(finding.severity),
        "path": finding.path,
        "problem": finding.problem,
        "why": finding.why,
        "fix": finding.fix,
        "source": finding.source,
        "docs": f"docs/codes/{finding.code}.md",
        "file": place.file if place else None,
        "line": place.line if place else None,
        "column": place.column if place else None,
    }
