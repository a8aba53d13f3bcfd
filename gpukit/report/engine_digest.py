"""
Read `pulumi preview --json`: one document, with or without `--show-replacement-steps` and `--show-sames`.

The digest drops policy results and the new stack outputs; what it cannot say is put into `Change.notes`.
Format: pulumi/pkg display/json.go (PreviewDigest), pulumi/sdk apitype ResourceV3, v3.274.1.
"""

import json
from typing import Any

from gpukit.report.change import (
    NOTHING,
    STACK_TYPE,
    Change,
    Message,
    Numbers,
    UnreadablePreview,
    stack_and_project_of,
)
from gpukit.report.engine_messages import clean_message, split_findings
from gpukit.report.engine_steps import RawStep, assemble_steps, parse_detailed_diff, parse_raw_state
from gpukit.report.numbers import numbers_from_outputs

SOURCE = "engine digest"


def parse_engine_digest(text: str, *, stack: str = "", where: str = "the preview") -> Change:
    """Return the change that a digest describes; raises UnreadablePreview for people, never a parse error."""
    document = _load_document(text, where)
    raw = [_raw_step(step, index, where) for index, step in enumerate(_list(document, "steps", where))]
    stack_step = next((step for step in raw if step.type_token == STACK_TYPE), None)
    found_stack, project = stack_and_project_of(stack_step.urn if stack_step else (raw[0].urn if raw else ""))
    steps, unchanged = assemble_steps(raw)
    summary = document.get("changeSummary")
    if isinstance(summary, dict):
        # Sames are in the steps only with --show-sames; the summary counts them always, the stack and components too.
        unchanged = max(unchanged, _count(summary.get("same")) - sum(step.is_structure for step in raw))
    said = _messages(_list(document, "diagnostics", where))
    findings, messages = split_findings(said)
    complete = isinstance(summary, dict) and not any(message.level == "error" for message in messages)
    return Change(
        stack=stack or found_stack,
        project=project,
        source=SOURCE,
        steps=steps,
        unchanged=max(unchanged, 0),
        before=_numbers_before(stack_step),
        after=_numbers_after(stack_step),
        findings=findings,
        messages=messages,
        complete=complete and not document.get("maybeCorrupt", False),
        notes=_notes(document, complete),
    )


def _load_document(text: str, where: str) -> dict[str, Any]:
    start = text.find("{")
    if start < 0:
        raise UnreadablePreview(f"{where} holds no JSON object; write it with: pulumi preview --json > preview.json")
    try:
        # The engine may print warnings before and after the document (a plugin found on PATH, an update notice).
        document, _ = json.JSONDecoder().raw_decode(text, start)
    except (ValueError, RecursionError) as error:
        raise UnreadablePreview(f"{where} is not whole JSON ({error}); was the preview cut off?") from error
    if not isinstance(document, dict) or not ({"steps", "changeSummary", "diagnostics", "config"} & document.keys()):
        raise UnreadablePreview(
            f"{where} is JSON but no preview digest: neither `steps` nor `changeSummary` is in it; "
            "write it with: pulumi preview --json > preview.json"
        )
    return document


def _raw_step(step: Any, index: int, where: str) -> RawStep:
    if not isinstance(step, dict) or not isinstance(step.get("urn"), str) or not isinstance(step.get("op"), str):
        raise UnreadablePreview(f"{where}: steps[{index}] has no `op` and `urn`; it is no step of a preview digest")
    return RawStep(
        op=step["op"],
        urn=step["urn"],
        old=parse_raw_state(step.get("oldState")),
        new=parse_raw_state(step.get("newState")),
        diff_keys=tuple(_strings(step.get("diffReasons"))),
        replace_keys=tuple(_strings(step.get("replaceReasons"))),
        detailed=parse_detailed_diff(step.get("detailedDiff"), kind_key="kind"),
    )


def _messages(diagnostics: list[Any]) -> list[Message]:
    kept = []
    for item in diagnostics:
        if not isinstance(item, dict):
            continue
        severity = str(item.get("severity", "info"))
        text = clean_message(str(item.get("prefix", "")) + str(item.get("message", "")))
        if severity in ("error", "warning") and text:
            kept.append(Message(level=severity, text=text, urn=str(item.get("urn", ""))))
    return kept


def _numbers_before(stack_step: RawStep | None) -> Numbers:
    if stack_step is None:
        return Numbers()
    if stack_step.op in ("create", "import") or stack_step.old is None:
        return NOTHING
    return numbers_from_outputs(stack_step.old.outputs)


def _numbers_after(stack_step: RawStep | None) -> Numbers:
    if stack_step is None:
        return Numbers()
    if stack_step.op == "delete":
        return NOTHING
    return numbers_from_outputs(stack_step.new.outputs if stack_step.new else {})


def _notes(document: dict[str, Any], complete: bool) -> tuple[str, ...]:
    notes = ["The digest carries no policy results; read them from the engine's log or its events."]
    if not complete:
        notes.append("The preview did not finish: steps after the error are missing from this report.")
    if document.get("maybeCorrupt"):
        notes.append("The engine says that the state may be corrupt.")
    return tuple(notes)


def _list(document: dict[str, Any], key: str, where: str) -> list[Any]:
    value = document.get(key) or []
    if not isinstance(value, list):
        raise UnreadablePreview(f"{where}: `{key}` is a {type(value).__name__}, a preview digest has a list there")
    return value


def _strings(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, list) else []


def _count(value: Any) -> int:
    return int(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
