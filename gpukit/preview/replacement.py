"""Which changes force a replacement, from `replace_on_change.csv`; the sandbox's double reads the same table."""

import csv
from functools import cache
from importlib.resources import files

from gpukit.report.property_paths import parse_path


def forces_replacement(type_token: str, path: str, also: tuple[str, ...] = ()) -> bool:
    """Tell whether a change at a property path replaces a resource; list indices in the path do not matter."""
    changed = _without_indices(path)
    wanted = [*_table().get(type_token, ()), *(_without_indices(item) for item in also)]
    # A change of a whole object touches every part of it, and a part that forces is touched by its own parts.
    return any(changed[: len(item)] == item or item[: len(changed)] == changed for item in wanted) or "*" in also


def is_known_type(type_token: str) -> bool:
    """Tell whether the table has anything to say of a type; where not, a replacement may be missed."""
    return type_token in _table()


@cache
def moving_outputs() -> dict[str, str]:
    """Return, by type, the output that takes a new value when the resource is updated in place."""
    with files("gpukit.preview").joinpath("outputs_that_move.csv").open(encoding="utf-8") as lines:
        return {row["type_token"]: row["output"] for row in csv.DictReader(lines)}


@cache
def _table() -> dict[str, tuple[tuple[str, ...], ...]]:
    table: dict[str, list[tuple[str, ...]]] = {}
    with files("gpukit.preview").joinpath("replace_on_change.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            table.setdefault(row["type_token"], []).append(_without_indices(row["property"]))
    return {token: tuple(paths) for token, paths in table.items()}


def _without_indices(path: str) -> tuple[str, ...]:
    return tuple(part for part in parse_path(path) if isinstance(part, str) and part != "*")
