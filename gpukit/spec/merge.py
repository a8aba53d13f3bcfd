"""Merge a user's settings over a preset, key by key."""

from typing import Any, Final

_WAYS_TO_NAME_A_TYPE: Final = ("instance_type", "instance_types", "ultraserver")


def merge_mappings(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """
    Return `base` with `over` laid over it.

    Mappings merge key by key; lists and plain values replace; `null` removes what the preset says. A capacity that
    changes its `mode` starts anew, because reservations of one mode mean nothing in another. Of keys that say the
    same in different ways (`instance_type`, `instance_types`, `ultraserver`) those of `over` take the others' place.
    """
    merged = dict(base)
    if any(key in over for key in _WAYS_TO_NAME_A_TYPE):
        for key in _WAYS_TO_NAME_A_TYPE:
            merged.pop(key, None)
    for key, value in over.items():
        old = merged.get(key)
        if value is None:
            merged.pop(key, None)
        elif isinstance(value, dict) and isinstance(old, dict):
            merged[key] = dict(value) if key == "capacity" and _changes_mode(old, value) else merge_mappings(old, value)
        elif isinstance(value, dict):
            merged[key] = merge_mappings({}, value)
        else:
            merged[key] = value
    return merged


def set_by_path(mapping: dict[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    """Return the mapping with one value set at a dotted path; mappings on the way are made."""
    over: Any = value
    for key in reversed(path):
        over = {key: over}
    return merge_mappings(mapping, over)


def _changes_mode(old: dict[str, Any], new: dict[str, Any]) -> bool:
    return "mode" in new and new["mode"] != old.get("mode", "on-demand")
