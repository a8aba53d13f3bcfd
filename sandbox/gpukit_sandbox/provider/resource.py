"""
What a resource type states, and the life of a resource made from it: create, read, update in place, delete.

A type is a class: which call makes it, where its id is, which call reads it, what its members are called where the rule of
`convert.py` does not find them. Only what AWS splits over several calls needs a method, marked with `applies`.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

import jmespath

from gpukit_sandbox.provider import sdk_types
from gpukit_sandbox.provider.convert import Unmatched, consumed, from_api, tags_from_api, to_api
from gpukit_sandbox.provider.tagging import NO_TAGS, Tagging
from gpukit_sandbox.provider.values import Properties, same_value, without_unknown
from gpukit_sandbox.provider.world import Calls, Refused

Applier = Callable[[Any, Calls, str, Properties, Properties], None]

STATED: Final = "__stated"
"""In the state that `extra` gets: the inputs as they were stated, before AWS's own spelling replaced them."""
WAIT_SECONDS: Final = 300.0
BUSY_SECONDS: Final = 8.0
"""How long a deletion waits for what still uses the resource. The real provider waits minutes; the sandbox's world is faster."""
BUSY_CODES: Final = frozenset(
    {"DependencyViolation", "ResourceInUseException", "DeleteConflict", "ResourceInUse", "InvalidPlacementGroup.InUse"}
)


def applies(*properties: str, on_create: bool = True) -> Callable[[Applier], Applier]:
    """Mark a method that carries these properties to AWS: after creation when they are stated, later when they change."""

    def mark(method: Applier) -> Applier:
        method.applies = properties  # type: ignore[attr-defined]
        method.on_create = on_create  # type: ignore[attr-defined]
        return method

    return mark


class Resource:
    """A resource type of the double. Instances hold no state."""

    token: ClassVar[str]
    service: ClassVar[str]
    create_call: ClassVar[str] = ""
    id_from: ClassVar[str] = ""
    """Where the id is in the create call's answer; empty: `make_id` says."""
    read_call: ClassVar[str] = ""
    read_args: ClassVar[Mapping[str, Any]] = {}
    """Arguments; `{id}` and `{property}` stand for values of the state."""
    item: ClassVar[str] = ""
    gone: ClassVar[tuple[str, ...]] = ()
    """Error codes and, after `status:`, states that mean: it does not exist."""
    delete_call: ClassVar[str] = ""
    delete_args: ClassVar[Mapping[str, Any]] = {}
    update_call: ClassVar[str] = ""
    update_args: ClassVar[Mapping[str, Any]] = {}
    update_sends_all: ClassVar[bool] = False
    """True where AWS's update call replaces every setting, so that all inputs must be sent."""
    renames: ClassVar[Mapping[str, str]] = {}
    not_sent: ClassVar[frozenset[str]] = frozenset()
    """Inputs that are no member of the create call although one looks like them."""
    handles: ClassVar[frozenset[str]] = frozenset()
    """Inputs that methods carry or that only steer the provider."""
    status: ClassVar[str] = ""
    ready: ClassVar[tuple[str, ...]] = ()
    failed: ClassVar[tuple[str, ...]] = ()
    stillborn: ClassVar[tuple[str, ...]] = ()
    """Of `failed`: a creation that never came to life. The real provider marks it as tainted, so the next update replaces it."""
    waits_for_deletion: ClassVar[bool] = False
    tagging: ClassVar[Tagging] = NO_TAGS
    autoname: ClassVar[str] = "name"
    autoname_max: ClassVar[int] = 63
    arn: ClassVar[str] = ""
    """Format of the ARN where AWS does not return one."""
    changes_with_every_update: ClassVar[tuple[str, ...]] = ()
    """Outputs that a preview of an update cannot know."""
    defaults: ClassVar[Mapping[str, Any]] = {}
    """What the real provider fills in when an input is not stated."""
    drifts_from_nothing: ClassVar[tuple[str, ...]] = ()
    """Inputs that count as drift when AWS has them and nobody stated them."""
    vanishing: ClassVar[frozenset[str]] = frozenset()
    """Outputs that are gone when AWS does not mention them any more."""
    not_imported: ClassVar[frozenset[str]] = frozenset()
    """Inputs that an import leaves out: AWS fills them in or they exclude others."""
    _appliers: ClassVar[tuple[Applier, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Collect the methods marked with `applies`, a base class's first."""
        found: dict[str, Applier] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if hasattr(value, "applies"):
                    found[name] = value
        cls._appliers = tuple(found.values())

    @property
    def type(self) -> sdk_types.ResourceType:
        """The declared properties."""
        found = sdk_types.resource_type(self.token)
        assert found is not None, self.token
        return found

    # What a type may override

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Yield (property, reason) for what the real provider refuses before any call."""
        return ()

    def shape_name(self, name: str) -> str:
        """Return an automatic name in the form that the service accepts."""
        return name

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Return the arguments of the create call."""
        stated = {k: v for k, v in inputs.items() if k not in self.not_sent}
        params = to_api(stated, calls.shape(self.service, self.create_call), self.renames)
        tags = self.all_tags(calls, inputs)
        params.update(self.tagging.on_create(params, tags, self.has_tags))
        return params

    def make(self, calls: Calls, inputs: Properties) -> str:
        """Create and return the id."""
        answer = calls.call(self.service, self.create_call, **self.create_params(calls, inputs))
        return self.make_id(answer, inputs)

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the id from the create call's answer."""
        return str(jmespath.search(self.id_from, answer))

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Return the id that a creation with these inputs would get, where it follows from them; else None."""
        if self.id_from or not self.autoname:
            return None
        return str(inputs[self.autoname]) if self.autoname in inputs else None

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """Return the id of what an unanswered create call left, where the service can tell; else None."""
        return None

    def replaces_for(self, old: Properties, new: Properties) -> set[str]:
        """Return properties whose change replaces the resource because of other inputs, beside the table's."""
        return set()

    def in_place_for(self, old: Properties, new: Properties) -> set[str]:
        """Return properties whose change is in place because of other inputs, although the table says it replaces."""
        return set()

    def must_go_first(self, old: Properties, new: Properties) -> bool:
        """Tell whether a replacement cannot stand beside the old one: both would bear the same stated name."""
        name = self.autoname
        if not name or name not in self.type.inputs or name in (new.get("__defaults") or []):
            return False
        return name in old and old.get(name) == new.get(name)

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Return AWS's description, or None when it does not exist."""
        try:
            answer = calls.call(self.service, self.read_call, **fill(self.read_args, resource_id, state))
        except Refused as refusal:
            if refusal.code in self.gone:
                return None
            raise
        item = jmespath.search(self.item, answer) if self.item else answer
        if not isinstance(item, dict):
            return None
        status = jmespath.search(self.status, item) if self.status else None
        return None if f"status:{status}" in self.gone else item

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Return outputs that need more than the description; None removes one."""
        return {}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it."""
        if self.delete_call:
            calls.call(self.service, self.delete_call, **fill(self.delete_args, resource_id, state))

    def import_state(self, calls: Calls, resource_id: str) -> Properties:
        """Return what can be read off an id alone, for reading a resource that is not in the state yet."""
        return {}

    # The life of a resource

    @property
    def has_tags(self) -> bool:
        """Whether the type takes tags."""
        return "tags" in self.type.inputs

    def all_tags(self, calls: Calls, inputs: Properties) -> dict[str, str]:
        """Return the provider's default tags under the resource's own."""
        if not self.has_tags:
            return {}
        return {**calls.world.default_tags, **{k: str(v) for k, v in (inputs.get("tags") or {}).items()}}

    def not_modelled(self, calls: Calls, inputs: Properties) -> list[tuple[str, str]]:
        """Return (path, reason) of inputs that the type has and this double would lose on the way."""
        known = (
            set(self.handles)
            | {"region", "tags", "tagsAll", "__defaults"}
            | {p for a in self._appliers for p in a.applies}
        )  # type: ignore[attr-defined]
        unmatched = Unmatched()
        if self.create_call:
            shape = calls.shape(self.service, self.create_call)
            sent = [p for p in inputs if p not in self.not_sent]
            known |= consumed(sent, shape, self.renames)
            stated = {k: v for k, v in inputs.items() if k in sent and k not in self.handles and k != "tags"}
            stated = {k: v for k, v in stated.items() if not any(k in a.applies for a in self._appliers)}  # type: ignore[attr-defined]
            to_api(stated, shape, self.renames, unmatched=unmatched)
        reason = "the sandbox's AWS double does not model it"
        lost = [p for p, v in inputs.items() if p not in known and not same_value(v, None) and v is not False]
        return [(p, f"{p!r}: {reason}") for p in [*lost, *unmatched.paths]]

    def settle(self, calls: Calls, resource_id: str, inputs: Properties, *, old: Properties | None = None) -> None:
        """Wait until it is ready, then carry what the create call could not. Safe to repeat."""
        self.wait_ready(calls, resource_id, inputs)
        for applier in self._appliers:
            if applier.on_create and any(not same_value(inputs.get(p), None) for p in applier.applies):  # type: ignore[attr-defined]
                applier(self, calls, resource_id, inputs, old or {})

    def wait_ready(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Wait for one of the `ready` states. Raises Refused on a `failed` one."""
        if not self.status:
            return None
        deadline, delay = time.monotonic() + WAIT_SECONDS, 0.05
        while True:
            item = self.find(calls, resource_id, state)
            status = jmespath.search(self.status, item) if item else "gone"
            # A service that tells no state has nothing to wait for.
            if status is None or status in self.ready:
                return item
            if status in self.failed:
                raise Refused(f"{self.token.split(':')[-1]} {resource_id} is {status}{_reason(item)}", str(status))
            if time.monotonic() > deadline:
                raise Refused(f"{resource_id} is still {status} after {WAIT_SECONDS:.0f} s", "Timeout")
            calls.pause(delay)
            delay = min(2.0, delay * 1.5)

    def update(
        self, calls: Calls, resource_id: str, old: Properties, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Carry changed inputs to AWS in place."""
        if self.has_tags and "tags" in changed:
            self.tagging.change(
                calls, self.service, resource_id, {**state, "region": calls.region}, self.all_tags(calls, new)
            )
        rest = changed - {"tags", "tagsAll"}
        carried: set[str] = set()
        for applier in self._appliers:
            if rest & set(applier.applies):  # type: ignore[attr-defined]
                applier(self, calls, resource_id, new, old)
                carried |= set(applier.applies)  # type: ignore[attr-defined]
        rest -= carried
        if self.update_call and rest:
            self.call_update(calls, resource_id, new, state, rest)
        self.wait_ready(calls, resource_id, {**state, **new})

    def call_update(
        self, calls: Calls, resource_id: str, new: Properties, state: Properties, changed: set[str]
    ) -> None:
        """Call `update_call` with the changed inputs, or all where AWS replaces all."""
        shape = calls.shape(self.service, self.update_call)
        only = None if self.update_sends_all else changed
        params = to_api(new, shape, self.renames, only=only)
        params.update(fill(self.update_args, resource_id, {**state, **new}))
        calls.call(self.service, self.update_call, **params)

    def delete(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it and wait until it is gone; one that has gone already is fine."""
        deadline, delay = time.monotonic() + BUSY_SECONDS, 0.2
        while True:
            try:
                self.remove(calls, resource_id, state)
                break
            except Refused as refusal:
                if refusal.code in self.gone:
                    return
                if refusal.code not in BUSY_CODES or time.monotonic() > deadline:
                    raise
            calls.pause(delay)
            delay = min(2.0, delay * 2)
        if self.waits_for_deletion:
            deadline, delay = time.monotonic() + WAIT_SECONDS, 0.05
            while self.find(calls, resource_id, state) is not None:
                if time.monotonic() > deadline:
                    raise Refused(f"{resource_id} still exists {WAIT_SECONDS:.0f} s after its deletion", "Timeout")
                calls.pause(delay)
                delay = min(2.0, delay * 1.5)

    def state(self, calls: Calls, resource_id: str, inputs: Properties, item: dict[str, Any]) -> Properties:
        """Return the outputs: what was stated, then what AWS says, then what the type adds."""
        known = {k: v for k, v in without_unknown(inputs).items() if k != "__defaults"}
        outputs = {k: v for k, v in known.items() if k in self.type.outputs}
        outputs |= from_api(item, self.type.outputs, self.renames)
        if self.arn and "arn" in self.type.outputs:
            outputs["arn"] = self.arn.format(
                region=calls.region, account=calls.account, id=resource_id, **_texts(outputs)
            )
        if "region" in self.type.outputs:
            outputs["region"] = calls.region
        outputs |= self.extra(calls, resource_id, item, {**outputs, STATED: known})
        if self.has_tags:
            known_tags = {"tagsAll": self.all_tags(calls, inputs), **outputs, "region": calls.region}
            actual = self.tagging.read(calls, self.service, resource_id, known_tags, item)
            stated = inputs.get("tags") or {}
            defaults = calls.world.default_tags
            outputs["tagsAll"] = actual
            outputs["tags"] = {k: v for k, v in actual.items() if k in stated or defaults.get(k) != v}
        return {k: v for k, v in outputs.items() if v is not None}


def fill(template: Any, resource_id: str, state: Mapping[str, Any]) -> Any:
    """Return a template with `{id}` and `{property}` replaced; a lone `{property}` keeps the value's own type."""
    if isinstance(template, dict):
        return {key: fill(value, resource_id, state) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, resource_id, state) for value in template]
    if not isinstance(template, str) or "{" not in template:
        return template
    if template == "{id}":
        return resource_id
    if template[0] == "{" and template[-1] == "}" and template.count("{") == 1:
        return state.get(template[1:-1])
    return template.format(id=resource_id, **_texts(state))


def read_tags(item: Mapping[str, Any]) -> dict[str, str]:
    """Return the tags in a description, whatever the service calls them."""
    for name in ("Tags", "tags", "TagSet", "TagList", "tagSet"):
        if name in item:
            return tags_from_api(item[name])
    return {}


def _texts(state: Mapping[str, Any]) -> dict[str, str]:
    return {k: v for k, v in state.items() if isinstance(v, str) and k not in ("region", "id", "account")}


def _reason(item: dict[str, Any] | None) -> str:
    if not item:
        return ""
    for path in (
        "StateReason.Message",
        "StateMessage",
        "health.issues[0].message",
        "FailureDetails.Message",
        "FailureReason",
        "StatusReason",
    ):
        found = jmespath.search(path, item)
        if found:
            return f": {found}"
    return ""
