"""
The recording of a stack: every resource a program registers, with placeholders for what a cloud would give.

Sorted by URN: the order of registrations is the program's event loop's, another in every run.

Written by `gpukit_components/recorder.py`; saved and read again with `gpukit preview --save` and `--base-file`.
"""

import json
from dataclasses import dataclass, field
from typing import Any, Final

from gpukit.report.change import UnreadablePreview
from gpukit.report.redaction import redact_properties, redact_text

RECORDING_SCHEMA: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedResource:
    """One registration. `dependencies` maps input properties to the URNs they were computed from."""

    urn: str
    id: str
    arn: str = ""
    """Placeholders of what a cloud would give, the same on every recording of the same name."""
    type_token: str
    name: str
    parent: str
    custom: bool
    inputs: dict[str, Any]
    protect: bool = False
    retain: bool = False
    delete_before_replace: bool = False
    ignore_changes: tuple[str, ...] = ()
    replace_on_changes: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    dependencies: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_structure(self) -> bool:
        """Whether it is a component or a provider: nothing in a cloud."""
        return not self.custom or self.type_token.startswith("pulumi:providers:")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """All of one stack at one revision; `resources` are sorted by URN."""

    project: str
    stack: str
    resources: tuple[RecordedResource, ...]
    outputs: dict[str, Any]


def parse_recording(text: str, *, where: str) -> Recording:
    """Return a recording, its secrets removed; raises UnreadablePreview for people."""
    try:
        document = json.loads(text)
    except ValueError as error:
        raise UnreadablePreview(f"{where} is not whole JSON ({error}); write it with: gpukit preview --save") from error
    if not isinstance(document, dict) or not isinstance(document.get("resources"), list):
        raise UnreadablePreview(f"{where} is no recording: it has no list `resources`")
    if document.get("schema_version") != RECORDING_SCHEMA:
        raise UnreadablePreview(
            f"{where} has recording version {document.get('schema_version')}, this gpukit reads {RECORDING_SCHEMA}; "
            "record the base again with: gpukit preview --save"
        )
    outputs = document.get("outputs")
    try:
        resources = tuple(sorted(map(_resource, document["resources"]), key=lambda one: one.urn))
    except (KeyError, TypeError, AttributeError) as error:
        raise UnreadablePreview(f"{where}: a resource of the recording lacks {error}") from error
    return Recording(
        project=str(document.get("project", "")),
        stack=str(document.get("stack", "")),
        resources=resources,
        outputs=redact_properties(outputs, "") if isinstance(outputs, dict) else {},
    )


def render_recording(recording: Recording) -> str:
    """Return a recording as JSON that `parse_recording` reads: sorted, without secrets."""
    return (
        json.dumps(
            {
                "schema_version": RECORDING_SCHEMA,
                "project": recording.project,
                "stack": recording.stack,
                "outputs": recording.outputs,
                "resources": [
                    {
                        "urn": one.urn,
                        "id": one.id,
                        "arn": one.arn,
                        "type": one.type_token,
                        "name": one.name,
                        "parent": one.parent,
                        "custom": one.custom,
                        "inputs": one.inputs,
                        "protect": one.protect,
                        "retain": one.retain,
                        "delete_before_replace": one.delete_before_replace,
                        "ignore_changes": list(one.ignore_changes),
                        "replace_on_changes": list(one.replace_on_changes),
                        "aliases": list(one.aliases),
                        "dependencies": {name: list(urns) for name, urns in one.dependencies.items()},
                    }
                    for one in recording.resources
                ],
            },
            indent=1,
            sort_keys=True,
            ensure_ascii=False,
        )
        + "\n"
    )


def _resource(item: dict[str, Any]) -> RecordedResource:
    token = str(item["type"])
    return RecordedResource(
        urn=str(item["urn"]),
        id=redact_text(str(item.get("id", ""))),
        arn=redact_text(str(item.get("arn", ""))),
        type_token=token,
        name=redact_text(str(item["name"])),
        parent=str(item.get("parent", "")),
        custom=bool(item["custom"]),
        inputs=redact_properties(_numbers_as_typed(item["inputs"]), token),
        protect=bool(item.get("protect", False)),
        retain=bool(item.get("retain", False)),
        delete_before_replace=bool(item.get("delete_before_replace", False)),
        ignore_changes=tuple(item.get("ignore_changes", ())),
        replace_on_changes=tuple(item.get("replace_on_changes", ())),
        aliases=tuple(item.get("aliases", ())),
        dependencies={name: tuple(urns) for name, urns in item.get("dependencies", {}).items()},
    )


def _numbers_as_typed(value: Any) -> Any:
    """Whole numbers arrive as floats over the wire."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {key: _numbers_as_typed(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers_as_typed(item) for item in value]
    return value
