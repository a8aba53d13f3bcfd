"""
Between Pulumi's properties and AWS's API members, driven by both sides' own models.

`cidrBlock` becomes `CidrBlock`, `vpcSecurityGroupIds` needs a rename; nested blocks follow by the same rule. botocore's shape decides the
type on the way out, the SDK's type word on the way in, so `"true"` and `True` meet.
"""

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpukit_sandbox.provider.sdk_types import nested_type
from gpukit_sandbox.provider.values import UNKNOWN, plain


@dataclass(slots=True)
class Unmatched:
    """Collects the nested input paths that AWS's model has no place for."""

    paths: list[str] = field(default_factory=list)


def to_api(
    properties: Mapping[str, Any],
    shape: Any,
    renames: Mapping[str, str] | None = None,
    *,
    only: Iterable[str] | None = None,
    unmatched: Unmatched | None = None,
    path: str = "",
) -> dict[str, Any]:
    """
    Return the members of a botocore structure that the properties fill.

    `renames` maps a property name to a member name, at any depth. Top-level properties without a member are left out: other calls carry
    them; nested ones are reported in `unmatched`.
    """
    names = renames or {}
    members = shape.members
    index = _index(members)
    wanted = None if only is None else set(only)
    result: dict[str, Any] = {}
    for name, value in properties.items():
        if value is None or (wanted is not None and name not in wanted):
            continue
        member = names.get(name) if names.get(name, "") in members else None
        member = member or _find(name, index)
        if member is None:
            if path and unmatched is not None:
                unmatched.paths.append(f"{path}.{name}")
            continue
        result[member] = _to_member(value, members[member], names, unmatched, f"{path}.{name}" if path else name)
    return result


def consumed(properties: Iterable[str], shape: Any, renames: Mapping[str, str] | None = None) -> set[str]:
    """Return the properties for which a structure has a member."""
    names = renames or {}
    index = _index(shape.members)
    return {p for p in properties if names.get(p, "") in shape.members or _find(p, index) is not None}


def from_api(
    item: Mapping[str, Any], declared: Mapping[str, str], renames: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the declared properties that an API structure fills, in the SDK's types; absent members stay absent."""
    names = renames or {}
    index = _index(item)
    result: dict[str, Any] = {}
    for name, word in declared.items():
        member = names.get(name) if names.get(name, "") in item else _find(name, index)
        if member is None or item[member] is None:
            continue
        value = _from_member(item[member], word, names)
        if value is not None:
            result[name] = value
    return result


def _to_member(value: Any, shape: Any, names: Mapping[str, str], unmatched: Unmatched | None, path: str) -> Any:
    if isinstance(value, str) and value == UNKNOWN:
        return value
    kind = shape.type_name
    if kind == "structure":
        if isinstance(value, list):
            value = value[0] if value else {}
        return to_api(value, shape, names, unmatched=unmatched, path=path) if isinstance(value, dict) else value
    if kind == "list":
        if isinstance(value, dict) and _is_tag_list(shape):
            key, val = sorted(shape.member.members)
            return [{key: k, val: plain(v)} for k, v in sorted(value.items())]
        items = value if isinstance(value, list) else [value]
        return [_to_member(item, shape.member, names, unmatched, f"{path}[{i}]") for i, item in enumerate(items)]
    if kind == "map":
        return (
            {k: _to_member(v, shape.value, names, unmatched, path) for k, v in value.items()}
            if isinstance(value, dict)
            else value
        )
    return _to_scalar(value, kind)


def _to_scalar(value: Any, kind: str) -> Any:
    if kind == "boolean" and isinstance(value, str):
        return value.lower() == "true"
    if kind in ("integer", "long") and not isinstance(value, bool):
        return int(float(value))
    if kind in ("float", "double"):
        return float(value)
    if kind in ("string", "character"):
        return plain(value)
    return value


def _from_member(value: Any, word: str, names: Mapping[str, str]) -> Any:
    if word.startswith("["):
        items = value if isinstance(value, list | tuple) else [value]
        return [v for v in (_from_member(item, word[1:-1], names) for item in items) if v is not None]
    if word.startswith("{"):
        return _from_map(value)
    if word.startswith("#"):
        if isinstance(value, list):
            value = value[0] if value else None
        declared = nested_type(word)
        return from_api(value, declared, names) if isinstance(value, dict) and declared is not None else None
    return _from_scalar(value, word)


def _from_map(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return tags_from_api(value)
    return None


def tags_from_api(value: Any) -> dict[str, str]:
    """Return AWS's tags, a map or a list of key and value in any spelling, as a map without AWS's own `aws:` tags."""
    if isinstance(value, dict):
        pairs = value.items()
    else:
        pairs = ({k.lower(): v for k, v in tag.items()} for tag in value or ())  # type: ignore[assignment]
        pairs = [(tag.get("key") or tag.get("tagkey"), tag.get("value", tag.get("tagvalue", ""))) for tag in pairs]  # type: ignore
    return {str(key): str(val) for key, val in pairs if not str(key).startswith("aws:")}


def _from_scalar(value: Any, word: str) -> Any:
    if isinstance(value, dict) and word == "str":
        # boto3 hands IAM's policies over decoded.
        return json.dumps(value, separators=(",", ":"))
    if isinstance(value, dict | list):
        return value if word == "any" else None
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if word == "bool":
        return value if isinstance(value, bool) else str(value).lower() == "true"
    if word in ("int", "float"):
        try:
            number = float(value)
        except (TypeError, ValueError):
            return None
        return int(number) if word == "int" else number
    if word == "str":
        return plain(value)
    return value


def _is_tag_list(shape: Any) -> bool:
    member = shape.member
    return member.type_name == "structure" and {m.lower().removeprefix("tag") for m in member.members} == {
        "key",
        "value",
    }


def _index(members: Iterable[str]) -> dict[str, str]:
    return {_bare(name): name for name in members}


def _find(name: str, index: Mapping[str, str]) -> str | None:
    bare = _bare(name)
    for candidate in (
        bare,
        f"{bare}s",
        bare.removesuffix("s"),
        f"{bare.removesuffix('y')}ies",
        f"{bare.removesuffix('ies')}y",
        f"{bare}list",
        f"{bare}set",
    ):
        if candidate in index:
            return index[candidate]
    return None


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
