"""Property values: the wire form, unknowns, and when two values mean the same."""

import json
from typing import Any, Final

from google.protobuf import struct_pb2

UNKNOWN: Final = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""What the engine sends in a preview for a value that only the real operation will know."""

Properties = dict[str, Any]


def from_struct(message: struct_pb2.Struct) -> Properties:
    """Return the mapping in a protobuf struct; whole numbers become ints."""
    return {key: _from_value(value) for key, value in message.fields.items()}


def to_struct(properties: Properties) -> struct_pb2.Struct:
    """Return a mapping as a protobuf struct; entries that are None are left out."""
    message = struct_pb2.Struct()
    message.update(_without_none(properties))
    return message


def has_unknown(value: Any) -> bool:
    """Tell whether a value is unknown or holds an unknown anywhere."""
    if isinstance(value, dict):
        return any(has_unknown(v) for v in value.values())
    if isinstance(value, list):
        return any(has_unknown(v) for v in value)
    return isinstance(value, str) and value == UNKNOWN


def without_unknown(properties: Properties) -> Properties:
    """Return the entries that are known to the last leaf."""
    return {key: value for key, value in properties.items() if not has_unknown(value)}


def same_value(left: Any, right: Any) -> bool:
    """
    Tell whether AWS would see no difference between two values.

    Lists of plain values are sets; JSON texts are compared by meaning; `"true"` is `True` and `"5"` is `5`; absent, null and an empty
    list or map are one.
    """
    if left == right:
        return True
    if _is_empty(left) and _is_empty(right):
        return True
    if isinstance(left, dict) and isinstance(right, dict):
        return all(same_value(left.get(key), right.get(key)) for key in left.keys() | right.keys())
    if isinstance(left, list) and isinstance(right, list):
        return _same_list(left, right)
    if isinstance(left, dict | list) or isinstance(right, dict | list) or left is None or right is None:
        return False
    if plain(left) == plain(right):
        return True
    return _same_json(left, right)


def project(wanted: Any, actual: Any) -> Any:
    """
    Return `actual` in the shape of `wanted`: what somebody stated, as it stands now.

    Where both mean the same, `wanted` comes back untouched, so a reader of the result sees drift and nothing else. Nested keys that
    the reader could not read keep their stated value.
    """
    if actual is None or same_value(wanted, actual):
        return wanted
    if isinstance(wanted, dict) and isinstance(actual, dict):
        return {key: project(value, actual.get(key)) for key, value in wanted.items()}
    if isinstance(wanted, list) and isinstance(actual, list):
        return _project_list(wanted, actual)
    return actual


def plain(value: Any) -> str:
    """Return the text AWS would show for a plain value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _project_list(wanted: list[Any], actual: list[Any]) -> list[Any]:
    left = list(actual)
    result: list[Any] = []
    unmatched: list[int] = []
    for item in wanted:
        match = next((i for i, other in enumerate(left) if same_value(project(item, other), item)), None)
        if match is None:
            unmatched.append(len(result))
            result.append(None)
        else:
            left.pop(match)
            result.append(item)
    for position in unmatched:
        result[position] = project(wanted[position], left.pop(0)) if left else None
    return [item for item in result if item is not None] + left


def _same_list(left: list[Any], right: list[Any]) -> bool:
    if len(left) != len(right):
        return False
    if all(not isinstance(item, dict | list) for item in left + right):
        return sorted(map(plain, left)) == sorted(map(plain, right))
    return all(same_value(a, b) for a, b in zip(left, right, strict=True))


def _same_json(left: Any, right: Any) -> bool:
    if not (isinstance(left, str) and isinstance(right, str) and left[:1] in "{[" and right[:1] in "{["):
        return False
    try:
        return bool(_policy_form(json.loads(left)) == _policy_form(json.loads(right)))
    except ValueError:
        return False


def _policy_form(value: Any) -> Any:
    """AWS treats one value and a list of one value alike, and lists as sets."""
    if isinstance(value, dict):
        return {key: _policy_form(v) for key, v in value.items()}
    if isinstance(value, list):
        items = [_policy_form(v) for v in value]
        if len(items) == 1:
            return items[0]
        return sorted(items, key=lambda v: json.dumps(v, sort_keys=True))
    return plain(value) if isinstance(value, bool | int | float) else value


def _is_empty(value: Any) -> bool:
    return value is None or value == [] or value == {}


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _without_none(v) for key, v in value.items() if v is not None}
    if isinstance(value, list | tuple):
        return [_without_none(v) for v in value]
    return value


def _from_value(value: struct_pb2.Value) -> Any:
    kind = value.WhichOneof("kind")
    if kind == "struct_value":
        return from_struct(value.struct_value)
    if kind == "list_value":
        return [_from_value(item) for item in value.list_value.values]
    if kind == "number_value":
        number = value.number_value
        return int(number) if number.is_integer() else number
    if kind == "string_value":
        return value.string_value
    if kind == "bool_value":
        return value.bool_value
    return None
