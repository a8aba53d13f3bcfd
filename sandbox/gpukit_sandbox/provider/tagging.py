"""How each service takes, changes and tells tags."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jmespath

from gpukit_sandbox.provider.convert import tags_from_api
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagging:
    """The tag calls of a service; `target` holds the arguments that name the resource, with `{id}` and `{property}` filled in."""

    create_member: str = ""
    """Member of the create call that takes tags."""
    form: str = "list"
    """`list` of Key and Value, `lower` list of key and value, `map`, `TagKey` list, or `ec2` for TagSpecifications."""
    ec2_type: str = ""
    tag_call: str = ""
    untag_call: str = ""
    target: Mapping[str, Any] = field(default_factory=dict)
    tags_member: str = "Tags"
    keys_member: str = "TagKeys"
    read_call: str = ""
    """Empty: the description itself holds the tags."""
    read_path: str = ""
    service: str = ""
    """Where the tag calls belong to another service than the resource's."""

    def on_create(self, params: dict[str, Any], tags: dict[str, str], has_tags: bool) -> dict[str, Any]:
        """Return what the create call needs for tags; clears what the naming rule put there."""
        if not has_tags:
            return {}
        for name in ("Tags", "tags"):
            if name != self.create_member:
                params.pop(name, None)
        if self.form == "ec2":
            if not tags or not self.ec2_type:
                return {}
            return {"TagSpecifications": [{"ResourceType": self.ec2_type, "Tags": self.write(tags)}]}
        if not self.create_member:
            return {}
        params.pop(self.create_member, None)
        return {self.create_member: self.write(tags)} if tags else {}

    def write(self, tags: Mapping[str, str]) -> Any:
        """Return tags in the service's own form, sorted."""
        ordered = sorted(tags.items())
        if self.form == "map":
            return dict(ordered)
        key, value = {"lower": ("key", "value"), "TagKey": ("TagKey", "TagValue")}.get(self.form, ("Key", "Value"))
        return [{key: k, value: v} for k, v in ordered]

    def change(
        self, calls: Calls, service: str, resource_id: str, state: Properties, wanted: Mapping[str, str]
    ) -> None:
        """Make the tags that stand equal to the wanted ones."""
        actual = self.read(calls, service, resource_id, state, None)
        service = self.service or service
        target = _fill(self.target, resource_id, state)
        superfluous = sorted(set(actual) - set(wanted))
        fresh = {k: v for k, v in wanted.items() if actual.get(k) != v}
        if superfluous:
            calls.call(service, self.untag_call, **target, **{self.keys_member: self._keys(superfluous)})
        if fresh:
            calls.call(service, self.tag_call, **target, **{self.tags_member: self.write(fresh)})

    def read(
        self, calls: Calls, service: str, resource_id: str, state: Properties, item: Mapping[str, Any] | None
    ) -> dict[str, str]:
        """Return the tags that stand, without AWS's own; from the description when it holds them."""
        if item is not None:
            for name in ("Tags", "tags", "TagSet", "TagList", "tagSet"):
                if name in item:
                    return tags_from_api(item[name])
            if not self.read_call:
                return {}
        if self.form == "ec2":
            answer = calls.call("ec2", "describe_tags", Filters=[{"Name": "resource-id", "Values": [resource_id]}])
            return tags_from_api(answer.get("Tags", []))
        if not self.read_call:
            return dict(state.get("tagsAll") or {})
        from gpukit_sandbox.provider.world import Refused

        try:
            answer = calls.call(self.service or service, self.read_call, **_fill(self.target, resource_id, state))
        except Refused as refusal:
            if refusal.code not in ("NotImplemented", "501"):
                raise
            # Where the double's server cannot list tags, drift in them is not seen.
            return dict(state.get("tagsAll") or {})
        return tags_from_api(jmespath.search(self.read_path or self.tags_member, answer) or [])

    def _keys(self, keys: list[str]) -> Any:
        return [{"Key": key} for key in keys] if self.form == "ec2" else keys


def _fill(template: Mapping[str, Any], resource_id: str, state: Properties) -> dict[str, Any]:
    from gpukit_sandbox.provider.resource import fill

    filled: dict[str, Any] = fill(dict(template), resource_id, state)
    return filled


NO_TAGS = Tagging()


def ec2_tags(ec2_type: str) -> Tagging:
    """Return the tagging of an EC2 resource type; `ec2_type` is AWS's word in TagSpecifications."""
    return Tagging(
        form="ec2",
        ec2_type=ec2_type,
        tag_call="create_tags",
        untag_call="delete_tags",
        target={"Resources": ["{id}"]},
        keys_member="Tags",
        service="ec2",
    )
