"""Turn the engine's raw steps (digest or events) into the model: one step per resource, properties side by side."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from gpukit.report.change import (
    STACK_TYPE,
    Action,
    PropertyChange,
    ReplaceOrder,
    ResourceStep,
    component_label,
    name_of,
    type_of,
)
from gpukit.report.property_paths import ABSENT, differing_paths, parse_path, value_at, with_unknowns
from gpukit.report.redaction import is_secret_key, redact, redact_properties, redact_text

REDACTED_CHANGE: Final = "[secret]"

_ACTIONS: Final = {
    "create": Action.CREATE,
    "update": Action.UPDATE,
    "delete": Action.DELETE,
    "replace": Action.REPLACE,
    "create-replacement": Action.REPLACE,
    "delete-replaced": Action.REPLACE,
    "discard-replaced": Action.REPLACE,
    "read-replacement": Action.READ,
    "remove-pending-replace": Action.REPLACE,
    "import": Action.IMPORT,
    "import-replacement": Action.REPLACE,
    "read": Action.READ,
    "discard": Action.FORGET,
    "refresh": Action.SAME,
    "same": Action.SAME,
}
"""Source: pulumi/sdk apitype history.go, OpType, v3.274.1."""

_MAX_PARTS: Final = 8
"""A property that differs in more places than these is shown as one."""

_ENGINE_OWN_KEYS: Final = ("__defaults", "__meta", "__provider")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawState:
    """One side of a raw step, as the engine wrote it."""

    inputs: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    parent: str = ""
    custom: bool = True
    protect: bool = False
    retain: bool = False
    external: bool = False
    replace_on_changes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RawStep:
    """A step as the engine wrote it; `detailed` maps paths to (kind, is a difference between inputs)."""

    op: str
    urn: str
    old: RawState | None = None
    new: RawState | None = None
    diff_keys: tuple[str, ...] = ()
    replace_keys: tuple[str, ...] = ()
    detailed: dict[str, tuple[str, bool]] | None = None

    @property
    def type_token(self) -> str:
        """Type token of the resource."""
        return type_of(self.urn)

    @property
    def is_structure(self) -> bool:
        """Whether it is the stack, a component or a provider: nothing in a cloud."""
        state = self.new or self.old
        return (
            self.type_token == STACK_TYPE
            or self.type_token.startswith("pulumi:providers:")
            or (state is not None and not state.custom)
        )


def parse_raw_state(state: Any) -> RawState | None:
    """Return one side of a step as the digest and the events both write it; None where it has no such side."""
    if not isinstance(state, dict):
        return None
    inputs, outputs, replacing = state.get("inputs"), state.get("outputs"), state.get("replaceOnChanges")
    return RawState(
        inputs=inputs if isinstance(inputs, dict) else {},
        outputs=outputs if isinstance(outputs, dict) else {},
        parent=str(state.get("parent") or ""),
        custom=bool(state.get("custom", False)),
        protect=bool(state.get("protect", False)),
        retain=bool(state.get("retainOnDelete", False)),
        external=bool(state.get("external", False)),
        replace_on_changes=tuple(str(path) for path in replacing) if isinstance(replacing, list) else (),
    )


def parse_detailed_diff(detailed: Any, *, kind_key: str) -> dict[str, tuple[str, bool]] | None:
    """Return property path -> kind and whether an input differs; `kind_key` is the form's own word for the kind."""
    if not isinstance(detailed, dict):
        return None
    return {
        str(path): (str(diff.get(kind_key, "update")), bool(diff.get("inputDiff", False)))
        for path, diff in detailed.items()
        if isinstance(diff, dict)
    }


def assemble_steps(raw: Iterable[RawStep]) -> tuple[tuple[ResourceStep, ...], int]:
    """Return one step per changed resource in the input's order, and how many resources stay the same."""
    by_urn: dict[str, list[RawStep]] = {}
    parents: dict[str, str] = {}
    structure: set[str] = set()
    for step in raw:
        parents[step.urn] = next((state.parent for state in (step.new, step.old) if state and state.parent), "")
        if step.is_structure:
            structure.add(step.urn)
        else:
            by_urn.setdefault(step.urn, []).append(step)
    steps = []
    unchanged = 0
    for urn, parts in by_urn.items():
        made = _assemble(parts, component=_component_path(urn, parents, structure))
        if made.action is Action.SAME:
            unchanged += 1
        else:
            steps.append(made)
    return tuple(steps), unchanged


def _assemble(parts: list[RawStep], *, component: str) -> ResourceStep:
    actions = [_ACTIONS.get(part.op, Action.UPDATE) for part in parts]
    ops = [part.op for part in parts]
    main = _main_step(parts)
    old = next((part.old for part in [main, *parts] if part.old), None)
    new = next((part.new for part in [main, *parts] if part.new), None)
    action = _combine(actions)
    changes = _changes(main, old, new) if action in (Action.UPDATE, Action.REPLACE) else ()
    if action is Action.SAME and old and new and old.protect != new.protect:
        action = Action.UPDATE
        changes = (PropertyChange(path="(option) protect", before=old.protect, after=new.protect),)
    retained = bool(old and old.retain)
    return ResourceStep(
        urn=redact_text(main.urn),
        type_token=main.type_token,
        name=redact_text(name_of(main.urn)),
        action=action,
        parent=next((state.parent for state in (new, old) if state and state.parent), ""),
        component=redact_text(component),
        changes=changes,
        forced_by=_forced_by(main, changes) if action is Action.REPLACE else (),
        order=_order(ops),
        protected=bool(old and old.protect),
        retained=retained,
        before=_shown(old.inputs, main.type_token) if old else {},
        after=_shown(new.inputs, main.type_token) if new and action is not Action.DELETE else {},
    )


def _main_step(parts: list[RawStep]) -> RawStep:
    """Return the step that carries the reasons: `replace` before its halves, else the first that does something."""
    for wanted in ("replace", "create-replacement", "import-replacement"):
        for part in parts:
            if part.op == wanted:
                return part
    return next((part for part in parts if _ACTIONS.get(part.op) is not Action.SAME), parts[0])


def _combine(actions: list[Action]) -> Action:
    if Action.REPLACE in actions or {Action.CREATE, Action.DELETE} <= set(actions):
        return Action.REPLACE
    return next((action for action in actions if action is not Action.SAME), Action.SAME)


def _order(ops: list[str]) -> ReplaceOrder:
    make = next((index for index, op in enumerate(ops) if op in ("create-replacement", "import-replacement")), None)
    drop = next((index for index, op in enumerate(ops) if op in ("delete-replaced", "discard-replaced")), None)
    if make is None or drop is None:
        return ReplaceOrder.NOT_SAID
    return ReplaceOrder.CREATE_FIRST if make < drop else ReplaceOrder.DELETE_FIRST


def _forced_by(step: RawStep, changes: tuple[PropertyChange, ...]) -> tuple[str, ...]:
    paths = [change.path for change in changes if change.forces_replacement]
    keys = [key for key in step.replace_keys if not any(parse_path(path)[:1] == (key,) for path in paths)]
    return tuple(dict.fromkeys([*paths, *keys]))


def _changes(step: RawStep, old: RawState | None, new: RawState | None) -> tuple[PropertyChange, ...]:
    before_inputs = _shown(old.inputs, step.type_token) if old else {}
    after_inputs = _shown(new.inputs, step.type_token) if new else {}
    before_outputs = _shown(old.outputs, step.type_token) if old else {}
    paths: dict[str, tuple[str, bool]] = {}
    if step.detailed:
        paths = dict(step.detailed)
    else:
        keys = set(step.diff_keys) | set(step.replace_keys)
        for path in differing_paths(before_inputs, after_inputs):
            paths[path] = ("update", True)
        for key in keys:
            if not any(parse_path(path)[:1] == parse_path(key)[:1] for path in paths):
                paths[key] = ("update", False)
    changes = []
    for path in sorted(_in_parts(paths, before_inputs, after_inputs)):
        kind = next(kind for whole, (kind, _) in paths.items() if _lies_in(path, whole))
        head = str(parse_path(path)[0])
        if head in _ENGINE_OWN_KEYS:
            continue
        before = value_at(before_inputs, path)
        after = value_at(after_inputs, path)
        in_inputs = before is not ABSENT or after is not ABSENT
        if before is ABSENT:
            before = value_at(before_outputs, path)
        forces = kind.endswith("-replace") or (not step.detailed and head in step.replace_keys)
        changes.append(
            PropertyChange(
                path=redact_text(path),
                before=_hidden_by_path(path, before),
                after=_hidden_by_path(path, after),
                forces_replacement=forces,
                computed=not forces and (not in_inputs or (before == after and _is_plain(before))),
            )
        )
    return tuple(changes)


def _in_parts(paths: Iterable[str], before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Split a difference between two objects into its smallest parts; some providers name only the property."""
    parts: set[str] = set()
    for path in paths:
        old, new = value_at(before, path), value_at(after, path)
        inner = differing_paths(old, new, parse_path(path)) if isinstance(old, (dict, list)) else []
        parts.update(inner if inner and isinstance(new, (dict, list)) and len(inner) <= _MAX_PARTS else [path])
    return parts


def _lies_in(path: str, whole: str) -> bool:
    parts = parse_path(whole)
    return path == whole or parse_path(path)[: len(parts)] == parts


def _is_plain(value: Any) -> bool:
    """A hidden value may have changed behind the same mark, so its change is never noise."""
    return value is not ABSENT and REDACTED_CHANGE not in str(value)


def _hidden_by_path(path: str, value: Any) -> Any:
    if value is ABSENT:
        return None
    if any(isinstance(part, str) and is_secret_key(part) for part in parse_path(path)) and isinstance(value, str):
        return redact({"value": value, "name": str(parse_path(path)[-1])}).get("value")
    return value


def _shown(properties: dict[str, Any], token: str) -> dict[str, Any]:
    own = {key: value for key, value in properties.items() if key not in _ENGINE_OWN_KEYS}
    return {key: with_unknowns(value) for key, value in redact_properties(own, token).items()}


def _component_path(urn: str, parents: dict[str, str], structure: set[str]) -> str:
    names: list[str] = []
    seen = {urn}
    here = parents.get(urn, "")
    while here and here not in seen:
        seen.add(here)
        token = type_of(here)
        if token == STACK_TYPE:
            break
        # A parent outside the input is a component unless its token is a provider's (`aws:eks/cluster:Cluster`).
        if here in structure or (here not in parents and "/" not in token):
            names.append(component_label(here))
        here = parents.get(here, "")
    return " / ".join(reversed(names))
