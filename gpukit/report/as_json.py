"""Render a change as JSON for other programs: everything the comment says, nothing cut, the same bytes each time."""

import json
from collections.abc import Sequence
from typing import Any, Final

from gpukit.finding import Finding
from gpukit.report.change import UNKNOWN, Change, Numbers, ResourceStep
from gpukit.report.danger import Danger
from gpukit.report.gates import GateResult, Refusal
from gpukit.report.verdict import judge

REPORT_SCHEMA_VERSION: Final = 1
UNKNOWN_JSON: Final = {"unknown": True}
"""How a value that is known only after the update stands in the JSON."""


def render_json(change: Change, dangers: Sequence[Danger], gate: GateResult | None = None) -> str:
    """Return the report of one stack as sorted, indented JSON."""
    return json.dumps(report_document(change, dangers, gate), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def report_document(change: Change, dangers: Sequence[Danger], gate: GateResult | None = None) -> dict[str, Any]:
    """Return the report of one stack as plain values."""
    return {
        "schema_version": REPORT_SCHEMA_VERSION,
        "verdict": judge(change, tuple(dangers), gate).value,
        "stack": change.stack,
        "project": change.project,
        "source": change.source,
        "complete": change.complete,
        "counts": {
            **{
                action: sum(step.action.value == action for step in change.steps)
                for action in ("create", "update", "replace", "delete", "import", "forget", "read")
            },
            "unchanged": change.unchanged,
        },
        "numbers": {"before": _numbers(change.before), "after": _numbers(change.after)},
        "dangers": [_danger(danger) for danger in dangers],
        "gate": _gate(gate),
        "findings": [_finding(finding) for finding in change.findings],
        "messages": [{"level": m.level, "text": m.text, "urn": m.urn} for m in change.messages],
        "steps": [_step(step) for step in change.steps],
        "notes": list(change.notes),
    }


def _step(step: ResourceStep) -> dict[str, Any]:
    return {
        "urn": step.urn,
        "type": step.type_token,
        "name": step.name,
        "action": step.action.value,
        "component": step.component,
        "forced_by": list(step.forced_by),
        "order": step.order.value,
        "protected": step.protected,
        "retained": step.retained,
        "renamed_from": step.renamed_from,
        "tag_only": step.is_tag_only,
        "computed_only": step.is_computed_only,
        "changes": [
            {
                "path": change.path,
                "before": _value(change.before),
                "after": _value(change.after),
                "forces_replacement": change.forces_replacement,
                "computed": change.computed,
            }
            for change in step.changes
        ],
    }


def _danger(danger: Danger) -> dict[str, Any]:
    return {
        "urn": danger.step.urn,
        "name": danger.step.name,
        "type": danger.step.type_token,
        "subject": danger.subject,
        "harm": danger.harm.value,
        "forced_by": list(danger.step.forced_by),
        "order": danger.step.order.value,
        "nodes": danger.nodes,
        "loses": danger.loses,
        "hint": danger.hint,
    }


def _gate(gate: GateResult | None) -> dict[str, Any] | None:
    if gate is None:
        return None
    return {
        "refused": gate.refused,
        "reason": gate.reason,
        "gates": [{"gate": str(item), "origin": item.origin} for item in gate.gates],
        "refusals": [_refusal(refusal) for refusal in gate.refusals],
        "lifted": [_refusal(refusal) for refusal in gate.lifted],
        "notes": list(gate.notes),
    }


def _refusal(refusal: Refusal) -> dict[str, Any]:
    allowed = refusal.allowed_by
    return {
        "gate": str(refusal.gate),
        "what": refusal.what,
        "urn": refusal.urn,
        "allowed": None
        if allowed is None
        else {"reason": allowed.reason, "expires": allowed.expires.isoformat(), "approver": allowed.approver},
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "path": finding.path,
        "problem": finding.problem,
        "why": finding.why,
        "fix": finding.fix,
        "source": finding.source,
    }


def _numbers(numbers: Numbers) -> dict[str, Any]:
    return {
        "gpus": numbers.gpus,
        "nodes": numbers.nodes,
        "hourly_usd": numbers.hourly_usd,
        "monthly_usd": numbers.monthly_usd,
        "it_kw": numbers.it_kw,
        "kgco2e_per_month": numbers.kgco2e_per_month,
        "unpriced": numbers.unpriced,
    }


def _value(value: Any) -> Any:
    if value is UNKNOWN:
        return UNKNOWN_JSON
    if isinstance(value, dict):
        return {str(key): _value(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_value(item) for item in value]
    return value
