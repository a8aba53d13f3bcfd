"""What changed between two sets of inputs, and which change makes AWS replace the resource."""

import csv
import functools
import importlib.util
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox.provider.values import Properties, same_value

TABLE: Final = ("preview", "replace_on_change.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One changed leaf, by its path in the inputs."""

    path: str
    kind: str
    """`add`, `delete` or `update`."""
    replaces: bool

    @property
    def top(self) -> str:
        """The top-level property."""
        return re.split(r"[.\[]", self.path, maxsplit=1)[0]


def changes(
    token: str, old: Properties, new: Properties, also_replacing: Iterable[str] = (), in_place: Iterable[str] = ()
) -> list[Change]:
    """Return every changed leaf between old and new inputs, sorted; properties that start with `__` are the provider's own."""
    exempt = tuple(in_place)
    replacing = {p for p in replacing_paths(token) if p.split(".")[0] not in exempt} | set(also_replacing)
    found = []
    for name in sorted(old.keys() | new.keys()):
        if not name.startswith("__"):
            for path, kind in _leaves(name, old.get(name), new.get(name)):
                found.append(Change(path=path, kind=kind, replaces=_replaces(path, replacing)))
    return found


@functools.cache
def replacing_paths(token: str) -> frozenset[str]:
    """Return the property paths of a type whose change replaces the resource, lists without their index."""
    return _table().get(token, frozenset())


@functools.cache
def _table() -> dict[str, frozenset[str]]:
    found = importlib.util.find_spec("gpukit")
    if found is None or not found.submodule_search_locations:
        raise FileNotFoundError("gpukit is not installed beside gpukit_sandbox")
    path = Path(next(iter(found.submodule_search_locations))).joinpath(*TABLE)
    table: dict[str, set[str]] = {}
    with path.open(encoding="utf-8", newline="") as source:
        for row in csv.DictReader(source):
            table.setdefault(row["type_token"], set()).add(row["property"])
    return {token: frozenset(paths) for token, paths in table.items()}


def _replaces(path: str, replacing: set[str]) -> bool:
    bare = re.sub(r"\[\d+\]", "", path)
    parts = bare.split(".")
    return any(".".join(parts[:n]) in replacing for n in range(1, len(parts) + 1))


def _leaves(path: str, old: Any, new: Any) -> Iterator[tuple[str, str]]:
    if same_value(old, new):
        return
    if isinstance(old, dict) or isinstance(new, dict):
        left, right = old if isinstance(old, dict) else {}, new if isinstance(new, dict) else {}
        if (old is None or isinstance(old, dict)) and (new is None or isinstance(new, dict)):
            for key in sorted(left.keys() | right.keys()):
                yield from _leaves(
                    f"{path}.{key}" if _is_plain(key) else f'{path}["{key}"]', left.get(key), right.get(key)
                )
            return
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from _leaves(f"{path}[{index}]", a, b)
        return
    items = new if old is None else old
    if (old is None or new is None) and isinstance(items, list) and any(isinstance(i, dict) for i in items):
        for index, item in enumerate(items):
            yield from _leaves(f"{path}[{index}]", None if old is None else item, None if new is None else item)
        return
    yield path, "add" if old is None else "delete" if new is None else "update"


def _is_plain(key: str) -> bool:
    return bool(re.fullmatch(r"\w+", key))
