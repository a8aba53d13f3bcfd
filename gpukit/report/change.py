"""
The model of a change: what a preview says would happen, whatever tool said it.

Readers (`engine_digest`, `engine_events`, `gpukit.preview.recording`) make it, renderers and gates read it. All values
in it have passed `redaction`, so no renderer can leak what a reader let in.
"""

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from gpukit.finding import Finding

UNKNOWN_SENTINEL: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine writes for a value known only after the update. Source: pulumi/pkg resource/stack/deployment.go."""

STACK_TYPE: Final = "pulumi:pulumi:Stack"


class Action(StrEnum):
    """What happens to a resource, seen from its owner."""

    CREATE = "create"
    UPDATE = "update"
    REPLACE = "replace"
    DELETE = "delete"
    IMPORT = "import"
    READ = "read"
    FORGET = "forget"
    """It leaves the state and stays in the cloud (retain on delete, or a read that is dropped)."""
    SAME = "same"


class ReplaceOrder(StrEnum):
    """Which half of a replacement comes first; decides whether capacity is missing in between."""

    CREATE_FIRST = "create-before-delete"
    DELETE_FIRST = "delete-before-create"
    NOT_SAID = "order not in the input"


class Unknown:
    """The one value for "known only after the update"; compares by identity, prints as `unknown`."""

    _one: "Unknown | None" = None

    def __new__(cls) -> "Unknown":
        if cls._one is None:
            cls._one = super().__new__(cls)
        return cls._one

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = Unknown()


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyChange:
    """One property of one resource, before and after. `None` on a side means the property is absent there."""

    path: str
    before: Any
    after: Any
    forces_replacement: bool = False
    computed: bool = False
    """The program did not change it: an output that the provider computes again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceStep:
    """What happens to one resource. `urn` is the whole name, `name` its last part."""

    urn: str
    type_token: str
    name: str
    action: Action
    parent: str = ""
    component: str = ""
    """Components above it, outermost first, `GpuCluster a / GpuNodePool train`; "" at the top of the stack."""
    changes: tuple[PropertyChange, ...] = ()
    forced_by: tuple[str, ...] = ()
    """Properties that make this a replacement, as the engine names them."""
    order: ReplaceOrder = ReplaceOrder.NOT_SAID
    protected: bool = False
    retained: bool = False
    """Deleting it leaves the cloud resource in place (retain on delete)."""
    before: dict[str, Any] = field(default_factory=dict)
    after: dict[str, Any] = field(default_factory=dict)
    """Inputs on both sides, redacted."""
    renamed_from: str | None = None
    """The resource this one is the new name of (an alias), by its last part."""

    @property
    def is_tag_only(self) -> bool:
        """Whether an update touches nothing but tags or labels' mirror `tagsAll`."""
        return (
            self.action is Action.UPDATE
            and bool(self.changes)
            and all(change.computed or is_tag_path(change.path) for change in self.changes)
            and any(is_tag_path(change.path) for change in self.changes)
        )

    @property
    def is_computed_only(self) -> bool:
        """Whether an update touches only what the provider computes again."""
        return self.action is Action.UPDATE and bool(self.changes) and all(change.computed for change in self.changes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """What people decide by, on one side of the change; None is unknown. Dollars are list price."""

    gpus: int | None = None
    nodes: int | None = None
    hourly_usd: float | None = None
    monthly_usd: float | None = None
    it_kw: float | None = None
    kgco2e_per_month: float | None = None
    unpriced: int | None = None
    """Cost lines that have no known price and are missing from the sums."""


NOTHING: Final = Numbers(gpus=0, nodes=0, hourly_usd=0.0, monthly_usd=0.0, it_kw=0.0, kgco2e_per_month=0.0, unpriced=0)
"""The numbers of a stack that does not exist yet, or any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """Something the engine or a policy said. `level`: error | warning | info."""

    level: str
    text: str
    urn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """All that a preview of one stack says. Steps keep the order of the input; sames are counted, not kept."""

    stack: str
    project: str
    source: str
    """engine digest | engine events | offline recording"""
    steps: tuple[ResourceStep, ...]
    unchanged: int
    before: Numbers
    after: Numbers
    findings: tuple[Finding, ...] = ()
    messages: tuple[Message, ...] = ()
    complete: bool = True
    """False where the engine stopped early: then nothing in here may be called fine."""
    notes: tuple[str, ...] = ()
    """What the source cannot know, in whole sentences."""

    @property
    def steps_that_change(self) -> tuple[ResourceStep, ...]:
        """Steps that touch something: no reads, no sames."""
        return tuple(step for step in self.steps if step.action not in (Action.READ, Action.SAME))

    def count(self, action: Action) -> int:
        """Return how many steps are of that action."""
        return sum(step.action is action for step in self.steps)

    @property
    def is_empty(self) -> bool:
        """Whether nothing would be touched."""
        return not self.steps_that_change


_TAG_PATH: Final = re.compile(
    r"(?:(?:rootBlockDevice|ebsBlockDevices\[\d+\])\.)?(?:tags|tagsAll|volumeTags)(?:[.\[]|$)"
)


class UnreadablePreview(ValueError):
    """The input is no preview: what was read, where, and what to do; for people."""


def is_tag_path(path: str) -> bool:
    """
    Tell whether a property path lies in a resource's own tags (`tags`, `tagsAll["team"]`).

    Tags of an instance's own volumes count. `tagSpecifications` of a launch template do not: they make a new version,
    and that replaces nodes.
    """
    return bool(_TAG_PATH.match(path))


def name_of(urn: str) -> str:
    """Return the last part of a URN; a name may itself contain `::`."""
    parts = urn.split("::", 3)
    return parts[3] if len(parts) == 4 else urn


def component_label(urn: str) -> str:
    """Return a component as people name it: `GpuNodePool train`; several components may share a name."""
    return f"{type_of(urn).rsplit(':', 1)[-1]} {name_of(urn)}".strip()


def type_of(urn: str) -> str:
    """Return the type token of a URN, without its parents' types."""
    parts = urn.split("::", 3)
    return parts[2].rsplit("$", 1)[-1] if len(parts) == 4 else ""


def stack_and_project_of(urn: str) -> tuple[str, str]:
    """Return (stack, project) of a URN, or empty strings where it is none."""
    if not urn.startswith("urn:pulumi:"):
        return "", ""
    parts = urn.removeprefix("urn:pulumi:").split("::", 3)
    return (parts[0], parts[1]) if len(parts) >= 2 else ("", "")
