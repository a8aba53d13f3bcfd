"""
Read the engine's streamed events: JSON lines of `pulumi preview --event-log FILE` or of `--json` with
PULUMI_ENABLE_STREAMING_JSON_PREVIEW, for previews and for updates under way or done.

Events carry more than the digest: policy results, the order of a replacement, and the new stack outputs.
Format: pulumi/sdk apitype events.go (EngineEvent), v3.274.1.
"""

import json
from collections.abc import Iterator
from typing import Any, Final

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

SOURCE = "engine events"

_EVENT_KINDS: Final = frozenset(
    {
        "cancelEvent",
        "stdoutEvent",
        "diagnosticEvent",
        "preludeEvent",
        "summaryEvent",
        "resourcePreEvent",
        "resOutputsEvent",
        "resOpFailedEvent",
        "policyEvent",
        "policyRemediationEvent",
        "policyLoadEvent",
        "policyAnalyzeSummaryEvent",
        "policyRemediateSummaryEvent",
        "policyAnalyzeStackSummaryEvent",
        "startDebuggingEvent",
        "progressEvent",
        "errorEvent",
    }
)


def parse_engine_events(text: str, *, stack: str = "", where: str = "the events") -> Change:
    """Return the change that a stream of events describes; raises UnreadablePreview for people."""
    raw: list[RawStep] = []
    messages: list[Message] = []
    new_outputs: dict[str, Any] | None = None
    summary: dict[str, Any] | None = None
    for event in _events(text, where):
        if "resourcePreEvent" in event:
            raw.append(_raw_step(event["resourcePreEvent"]))
        elif "resOutputsEvent" in event:
            step = _raw_step(event["resOutputsEvent"])
            if step.type_token == STACK_TYPE and step.new:
                new_outputs = step.new.outputs
        elif "resOpFailedEvent" in event:
            failed = _raw_step(event["resOpFailedEvent"])
            messages.append(Message(level="error", text=f"`{failed.op}` failed", urn=failed.urn))
        elif "summaryEvent" in event:
            summary = event["summaryEvent"]
        else:
            messages.extend(_messages(event))
    stack_step = next((step for step in raw if step.type_token == STACK_TYPE), None)
    found_stack, project = stack_and_project_of(stack_step.urn if stack_step else (raw[0].urn if raw else ""))
    steps, unchanged = assemble_steps(raw)
    findings, kept = split_findings(messages)
    complete = (
        summary is not None
        and summary.get("result", "succeeded") in ("succeeded", "")
        and not any(message.level == "error" for message in messages)
    )
    return Change(
        stack=stack or found_stack,
        project=project,
        source=SOURCE,
        steps=steps,
        unchanged=unchanged,
        before=_before(stack_step),
        after=_after(stack_step, new_outputs),
        findings=findings,
        messages=kept,
        complete=complete,
        notes=() if complete else ("The stream has no good end: what came after its last event is missing here.",),
    )


def looks_like_events(text: str) -> bool:
    """Tell whether a text is a stream of events rather than one digest document."""
    for line in text.splitlines():
        line = line.strip()
        if not line.startswith("{"):
            continue
        try:
            event = json.loads(line)
        except ValueError:
            return False
        return isinstance(event, dict) and bool(_EVENT_KINDS & event.keys())
    return False


def _events(text: str, where: str) -> Iterator[dict[str, Any]]:
    found = 0
    broken: list[int] = []
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        if not line.startswith("{"):
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            broken.append(number)
            continue
        if isinstance(event, dict) and _EVENT_KINDS & event.keys():
            found += 1
            yield event
    if not found:
        raise UnreadablePreview(
            f"{where} holds no engine event; write them with: pulumi preview --event-log events.jsonl"
        )
    if broken:
        yield {
            "diagnosticEvent": {
                "severity": "error",
                "message": f"{where}: line {broken[0]} is not whole JSON; was the stream cut off?",
            }
        }


def _raw_step(event: Any) -> RawStep:
    metadata = event.get("metadata") if isinstance(event, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("urn"), str):
        raise UnreadablePreview("an event of a resource carries no `metadata.urn`; it is no event of the engine")
    return RawStep(
        op=str(metadata.get("op", "same")),
        urn=metadata["urn"],
        old=parse_raw_state(metadata.get("old")),
        new=parse_raw_state(metadata.get("new")),
        diff_keys=tuple(str(key) for key in metadata.get("diffs") or ()),
        replace_keys=tuple(str(key) for key in metadata.get("keys") or ()),
        detailed=parse_detailed_diff(metadata.get("detailedDiff"), kind_key="diffKind"),
    )


def _messages(event: dict[str, Any]) -> list[Message]:
    if "diagnosticEvent" in event:
        item = event["diagnosticEvent"]
        severity = str(item.get("severity", "info"))
        if item.get("ephemeral") or severity not in ("error", "warning"):
            return []
        text = clean_message(f"{item.get('prefix', '')}{item.get('message', '')}")
        return [Message(level=severity, text=text, urn=str(item.get("urn", "")))] if text else []
    if "policyEvent" in event:
        item = event["policyEvent"]
        if item.get("exceptions"):
            return []
        level = "error" if item.get("enforcementLevel") == "mandatory" else "warning"
        pack = f"{item.get('policyPackName', '')}/{item.get('policyName', '')}".strip("/")
        return [
            Message(
                level=level,
                text=clean_message(f"policy {pack}: {item.get('message', '')}"),
                urn=str(item.get("resourceUrn", "")),
            )
        ]
    if "errorEvent" in event:
        return [Message(level="error", text=clean_message(str(event["errorEvent"].get("error", ""))))]
    return []


def _before(stack_step: RawStep | None) -> Numbers:
    if stack_step is None:
        return Numbers()
    if stack_step.op == "create" or stack_step.old is None:
        return NOTHING
    return numbers_from_outputs(stack_step.old.outputs)


def _after(stack_step: RawStep | None, new_outputs: dict[str, Any] | None) -> Numbers:
    if stack_step is not None and stack_step.op == "delete":
        return NOTHING
    return numbers_from_outputs(new_outputs or {})
