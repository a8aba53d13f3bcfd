"""
Compare two recordings of a stack: what a deployed base would have to go through to become the change.

Follows the engine where it can: aliases, ignored changes, properties that force a replacement, and the wave that a
replacement sends through everything that refers to the old thing. Cannot see the cloud: drift, defaults of the
provider, and values that exist only after the update.
"""

import json
from dataclasses import dataclass
from typing import Any, Final

from gpukit.preview.recording import RecordedResource, Recording
from gpukit.preview.replacement import forces_replacement, is_known_type, moving_outputs
from gpukit.report.change import (
    NOTHING,
    UNKNOWN,
    UNKNOWN_SENTINEL,
    Action,
    Change,
    Numbers,
    PropertyChange,
    ReplaceOrder,
    ResourceStep,
    component_label,
    is_tag_path,
)
from gpukit.report.numbers import numbers_from_outputs
from gpukit.report.property_paths import ABSENT, differing_paths, join_path, parse_path, value_at, with_unknowns

SOURCE: Final = "offline recording"

_NOTE: Final = (
    "Offline preview: it compares two revisions of the program, not the program with the cloud; drift and values that "
    "the provider computes are not in it, and secret values are not compared."
)
_NO_BASE: Final = (
    "Compared with nothing (no base, or a base without this stack): all is to create here, whatever stands already; "
    "--base REF compares with another git revision, `pulumi preview` with what stands."
)


@dataclass(slots=True)
class _Wave:
    """What earlier resources became: ids that will be new, and resources whose moving output will be new."""

    new_ids: dict[str, str]
    """Placeholder of an id or ARN that will change -> URN of its resource."""
    moved: set[str]


def compare_recordings(base: Recording | None, head: Recording) -> Change:
    """Return the change from base to head, steps sorted by URN, deletions last; without a base all is created."""
    old_by_urn = {one.urn: one for one in base.resources} if base else {}
    pairs = [(one, _find_old(one, old_by_urn)) for one in _dependencies_first(head.resources)]
    renames = {old.id: new.id for new, old in pairs if old is not None and old.id and old.id != new.id}
    renames |= {old.arn: new.arn for new, old in pairs if old is not None and old.arn and old.arn != new.arn}
    structure = {one.urn for one in head.resources if one.is_structure}
    parents = {one.urn: one.parent for one in head.resources}
    steps: list[ResourceStep] = []
    unchanged = 0
    wave = _Wave(new_ids={}, moved=set())
    for new, old in pairs:
        if new.is_structure:
            continue
        step = _step(new, old, renames, wave, _component_path(new.parent, parents, structure))
        if step.action is Action.SAME:
            unchanged += 1
            continue
        steps.append(step)
        if step.action is Action.REPLACE:
            wave.new_ids |= {new.id: new.urn, new.arn: new.urn}
        elif step.action is Action.UPDATE and not step.is_tag_only and new.type_token in moving_outputs():
            wave.moved.add(new.urn)
    steps.sort(key=lambda step: step.urn)
    steps.extend(_deletions(base, {old.urn for _, old in pairs if old is not None}))
    return Change(
        stack=head.stack,
        project=head.project,
        source=SOURCE,
        steps=tuple(steps),
        unchanged=unchanged,
        before=_numbers(base) if base and base.resources else NOTHING,
        after=_numbers(head) if head.resources else NOTHING,
        notes=(*(() if base else (_NO_BASE,)), *_notes(steps)),
    )


def _dependencies_first(resources: tuple[RecordedResource, ...]) -> list[RecordedResource]:
    """Return resources so that each comes after what its inputs refer to: the way a wave of replacements runs."""
    by_urn = {one.urn: one for one in sorted(resources, key=lambda resource: resource.urn)}
    ordered: dict[str, RecordedResource] = {}
    entered: set[str] = set()
    for root in by_urn:
        waiting = [root]
        while waiting:
            urn = waiting[-1]
            if urn in entered:
                waiting.pop()
                ordered.setdefault(urn, by_urn[urn])
                continue
            entered.add(urn)
            sources = {source for urns in by_urn[urn].dependencies.values() for source in urns}
            waiting.extend(sorted(source for source in sources if source in by_urn and source not in entered))
    return list(ordered.values())


def _find_old(new: RecordedResource, old_by_urn: dict[str, RecordedResource]) -> RecordedResource | None:
    for urn in (new.urn, *new.aliases):
        if urn in old_by_urn:
            return old_by_urn[urn]
    return None


def _step(
    new: RecordedResource, old: RecordedResource | None, renames: dict[str, str], wave: _Wave, component: str
) -> ResourceStep:
    if old is None:
        return _make(new, old, Action.CREATE, (), component)
    changes = tuple(
        change
        for change in _changes(new, old, renames, wave)
        if not any(_lies_in(change.path, ignored) for ignored in new.ignore_changes)
    )
    if any(change.forces_replacement for change in changes):
        return _make(new, old, Action.REPLACE, changes, component)
    if old.protect != new.protect:
        flag = PropertyChange(path="(option) protect", before=old.protect, after=new.protect)
        return _make(new, old, Action.UPDATE, (*changes, flag), component)
    renamed = old.urn != new.urn
    return _make(new, old, Action.UPDATE if changes or renamed else Action.SAME, changes, component)


def _changes(
    new: RecordedResource, old: RecordedResource, renames: dict[str, str], wave: _Wave
) -> list[PropertyChange]:
    before = _renamed(old.inputs, renames)
    paths = {path: value_at(new.inputs, path) for path in differing_paths(before, new.inputs)}
    for path, value in _leaves(new.inputs):
        if path not in paths and _will_move(path, value, new, wave):
            paths[path] = UNKNOWN
    return [
        PropertyChange(
            path=path,
            before=_shown(value_at(old.inputs, path)),
            after=UNKNOWN if after is UNKNOWN else _shown(after),
            forces_replacement=forces_replacement(new.type_token, path, new.replace_on_changes),
        )
        for path, after in sorted(paths.items())
    ]


def _will_move(path: str, value: Any, new: RecordedResource, wave: _Wave) -> bool:
    """Tell whether a value that stands still in the program refers to something that will be another."""
    sources = new.dependencies.get(str(parse_path(path)[0]), ())
    if isinstance(value, str) and UNKNOWN_SENTINEL in value:
        return any(urn in wave.moved or urn in wave.new_ids.values() for urn in sources)
    return isinstance(value, str) and any(
        placeholder in value for placeholder, urn in wave.new_ids.items() if placeholder and urn in sources
    )


def _leaves(value: Any) -> list[tuple[str, Any]]:
    """Return every leaf with its path in the engine's syntax."""
    found: list[tuple[str, Any]] = []

    def walk(here: Any, parts: tuple[str | int, ...]) -> None:
        if isinstance(here, dict):
            for key, item in here.items():
                walk(item, (*parts, key))
        elif isinstance(here, list):
            for index, item in enumerate(here):
                walk(item, (*parts, index))
        else:
            found.append((join_path(parts), here))

    walk(value, ())
    return found


def _make(
    new: RecordedResource,
    old: RecordedResource | None,
    action: Action,
    changes: tuple[PropertyChange, ...],
    component: str,
) -> ResourceStep:
    return ResourceStep(
        urn=new.urn,
        type_token=new.type_token,
        name=new.name,
        action=action,
        parent=new.parent,
        component=component,
        changes=changes if action in (Action.UPDATE, Action.REPLACE) else (),
        forced_by=tuple(change.path for change in changes if change.forces_replacement),
        order=ReplaceOrder.DELETE_FIRST if new.delete_before_replace else ReplaceOrder.NOT_SAID,
        protected=bool(old and old.protect),
        retained=bool(old and old.retain),
        before=with_unknowns(old.inputs) if old else {},
        after=with_unknowns(new.inputs),
        renamed_from=old.name if old is not None and old.urn != new.urn else None,
    )


def _deletions(base: Recording | None, kept: set[str]) -> list[ResourceStep]:
    if base is None:
        return []
    structure = {one.urn for one in base.resources if one.is_structure}
    parents = {one.urn: one.parent for one in base.resources}
    return [
        ResourceStep(
            urn=one.urn,
            type_token=one.type_token,
            name=one.name,
            action=Action.FORGET if one.retain else Action.DELETE,
            parent=one.parent,
            component=_component_path(one.parent, parents, structure),
            protected=one.protect,
            retained=one.retain,
            before=with_unknowns(one.inputs),
        )
        for one in sorted(base.resources, key=lambda resource: resource.urn)
        if one.urn not in kept and not one.is_structure
    ]


def _renamed(value: Any, renames: dict[str, str]) -> Any:
    """Return old values as they read after the rename of what they refer to: a new name is no new thing."""
    if not renames:
        return value
    text = json.dumps(value)
    for old, new in renames.items():
        text = text.replace(json.dumps(old)[1:-1], json.dumps(new)[1:-1])
    return json.loads(text)


def _shown(value: Any) -> Any:
    return None if value is ABSENT else with_unknowns(value)


def _lies_in(path: str, whole: str) -> bool:
    parts = parse_path(whole)
    return whole == "*" or parse_path(path)[: len(parts)] == parts


def _component_path(parent: str, parents: dict[str, str], structure: set[str]) -> str:
    names: list[str] = []
    while parent:
        if parent in structure:
            names.append(component_label(parent))
        parent = parents.get(parent, "")
    return " / ".join(reversed(names))


def _numbers(recording: Recording) -> Numbers:
    return numbers_from_outputs(recording.outputs)


def _notes(steps: list[ResourceStep]) -> tuple[str, ...]:
    unknown = sorted(
        {
            step.type_token
            for step in steps
            if step.action is Action.UPDATE
            and not is_known_type(step.type_token)
            and not all(is_tag_path(change.path) for change in step.changes)
        }
    )
    if not unknown:
        return (_NOTE,)
    return (
        _NOTE,
        f"No data says what replaces these types, so a replacement may show as an update: {', '.join(unknown)}",
    )
