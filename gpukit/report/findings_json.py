"""Read findings from `gpukit check --json`, so that a report can show what another job found."""

import json
from typing import Any

from gpukit.finding import Finding, Severity, sort_findings
from gpukit.report.change import UnreadablePreview


def parse_findings(text: str, *, where: str) -> tuple[Finding, ...]:
    """Return the findings of a JSON document: a list, or an object with `findings`; UnreadablePreview for people."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UnreadablePreview(f"{where} is not JSON ({error}); write it with: gpukit check --json") from error
    items = document.get("findings") if isinstance(document, dict) else document
    if not isinstance(items, list):
        raise UnreadablePreview(f"{where} has no list `findings`; write it with: gpukit check --json")
    return sort_findings(_finding(item, index, where) for index, item in enumerate(items))


def _finding(item: Any, index: int, where: str) -> Finding:
    if not isinstance(item, dict) or not isinstance(item.get("code"), str):
        raise UnreadablePreview(f"{where}: findings[{index}] has no `code`")
    try:
        severity = Severity(str(item.get("severity", "error")))
    except ValueError as error:
        raise UnreadablePreview(f"{where}: findings[{index}].severity is `{item.get('severity')}`") from error
    return Finding(
        code=item["code"],
        severity=severity,
        path=str(item.get("path", "")),
        problem=str(item.get("problem", "")),
        why=str(item.get("why", "")),
        fix=str(item.get("fix", "")),
        source=str(item.get("source", "")),
    )
