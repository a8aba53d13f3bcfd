"""Read and compare nested properties by the engine's paths: `tags["a.b"]`, `scalingConfig.maxSize`, `rules[2]`."""

import re
from typing import Any, Final

from gpukit.report.change import UNKNOWN, UNKNOWN_SENTINEL

ABSENT: Final = object()
"""What `value_at` returns where the path leads nowhere; not None, which is a value."""

_PART: Final = re.compile(r"""\[\s*"((?:[^"\\]|\\.)*)"\s*\]|\[\s*(-?\d+|\*)\s*\]|\.?([^.\[\]]+)""")
_PLAIN: Final = re.compile(r"^[A-Za-z_$][A-Za-z0-9_$\-]*$")


def parse_path(path: str) -> tuple[str | int, ...]:
    """Return the parts of a property path; what is no valid path is one part, as it stands."""
    parts: list[str | int] = []
    position = 0
    while position < len(path):
        match = _PART.match(path, position)
        if match is None or match.end() == position:
            return (path,)
        quoted, index, plain = match.groups()
        if quoted is not None:
            parts.append(re.sub(r"\\(.)", r"\1", quoted))
        elif index is not None:
            parts.append(index if index == "*" else int(index))
        else:
            parts.append(plain)
        position = match.end()
    return tuple(parts)


def join_path(parts: tuple[str | int, ...]) -> str:
    """Return the parts as a path in the engine's syntax."""
    text = ""
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        elif _PLAIN.match(part):
            text += f".{part}" if text else part
        else:
            text += '["' + part.replace("\\", "\\\\").replace('"', '\\"') + '"]'
    return text


def value_at(properties: Any, path: str) -> Any:
    """Return the value at a path, or ABSENT."""
    here = properties
    for part in parse_path(path):
        if here is UNKNOWN:
            return UNKNOWN
        try:
            here = here[part] if isinstance(here, (dict, list)) else ABSENT  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return ABSENT
    return here


def with_unknowns(value: Any) -> Any:
    """Return the value with the engine's marker for unknown values replaced by UNKNOWN."""
    if value == UNKNOWN_SENTINEL:
        return UNKNOWN
    if isinstance(value, dict):
        return {key: with_unknowns(item) for key, item in value.items()}
    if isinstance(value, list):
        return [with_unknowns(item) for item in value]
    return value


def differing_paths(before: Any, after: Any, at: tuple[str | int, ...] = ()) -> list[str]:
    """Return the paths of the smallest parts that differ; a list that changed its length differs as one where short."""
    if before is after or _same(before, after):
        return []
    if isinstance(before, dict) and isinstance(after, dict):
        return [
            path
            for key in sorted(before.keys() | after.keys())
            for path in differing_paths(before.get(key, ABSENT), after.get(key, ABSENT), (*at, key))
        ]
    if isinstance(before, list) and isinstance(after, list) and before and after:
        shared = min(len(before), len(after))
        paths = [path for index in range(shared) for path in differing_paths(before[index], after[index], (*at, index))]
        return paths + [join_path((*at, index)) for index in range(shared, max(len(before), len(after)))]
    return [join_path(at)]


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, bool) != isinstance(after, bool):
        return False
    return bool(before == after)
