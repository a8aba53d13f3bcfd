"""Read one CSV table into rows: the columns are the fields of the row's dataclass."""

import csv
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, TypeVar

from gpukit.catalog.fact import CatalogError, Filled

Row = TypeVar("Row")
LIST_MARK = "|"
"""Separates the members of a list inside a cell."""


RawRow = tuple[Path, int, dict[str, str]]
"""A row before it is parsed: its file, its line, its cells by column."""


def read_table(
    row_type: type[Row], path: Path, *, key: tuple[str, ...], overrides: Path | None = None
) -> tuple[Row, ...]:
    """
    Return the rows of a table, in the order of the file; rows of `overrides` change or follow them.

    A row of the overrides whose key is known changes the cells it fills in; any other row is added. Empty cells are
    unknown. Lines that start with `#` name the generator of a table and are skipped. Raises CatalogError.
    """
    return parse_rows(row_type, _collect(row_type, path, key, overrides))


def read_groups(
    row_type: type[Any], path: Path, *, key: tuple[str, ...], overrides: Path | None = None
) -> dict[str, list[RawRow]]:
    """
    Return the unparsed rows of a table by their first key column, for tables of which a command needs a few rows.

    Give a group to `parse_rows` when it is asked for. Overrides count as in `read_table`.
    """
    groups: dict[str, list[RawRow]] = {}
    for row in _collect(row_type, path, key, overrides):
        groups.setdefault(row[2].get(key[0], ""), []).append(row)
    return groups


def parse_rows(row_type: type[Row], rows: Iterable[RawRow]) -> tuple[Row, ...]:
    """Return the rows as values; CatalogError names the cell that cannot be read."""
    return tuple(_parse(row_type, origin, line, cells) for origin, line, cells in rows)


def _collect(row_type: type[Any], path: Path, key: tuple[str, ...], overrides: Path | None) -> list[RawRow]:
    rows = [(path, line, dict(zip(header, cells, strict=True))) for line, header, cells in _lines(row_type, path)]
    if overrides is None:
        return rows
    merged: dict[tuple[str, ...], RawRow] = {tuple(row[2][column] for column in key): row for row in rows}
    for line, header, cells in _lines(row_type, overrides):
        cell = {column: text for column, text in zip(header, cells, strict=True) if text}
        name = tuple(cell.get(column, "") for column in key)
        if not all(name):
            raise CatalogError(
                f"the row has no {' and '.join(f'`{column}`' for column in key)}",
                place=f"{overrides.name} line {line}",
                why="a row is found by its key",
                fix=f"fill in {', '.join(key)}",
            )
        base = merged[name][2] if name in merged else {}
        merged[name] = (overrides, line, {**base, **cell})
    return list(merged.values())


def _lines(row_type: type[Any], path: Path) -> list[tuple[int, list[str], list[str]]]:
    """Return (line number, header, cells) of each row; the header must name only known columns."""
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.reader(file)
            numbered = [(reader.line_num, cells) for cells in reader if cells and not cells[0].startswith("#")]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CatalogError(
            f"cannot read the table `{path}`",
            place=path.name,
            why=str(error),
            fix="restore the file, UTF-8 with commas",
        ) from error
    if not numbered:
        return []
    line, header = numbered[0]
    known = _converters(row_type)
    for column in header:
        if column not in known:
            from gpukit.nearest import nearest

            near = nearest(column, known)
            raise CatalogError(
                f"unknown column `{column}`",
                place=f"{path.name} line {line}",
                why="a column that nothing reads would be lost in silence",
                fix=f"use `{near[0]}`" if near else f"use one of {', '.join(known)}",
            )
    for line, cells in numbered[1:]:
        if len(cells) != len(header):
            raise CatalogError(
                f"{len(cells)} cells under {len(header)} columns",
                place=f"{path.name} line {line}",
                why="the cells of a row cannot be told apart",
                fix="put cells with commas in double quotes",
            )
    return [(line, header, cells) for line, cells in numbered[1:]]


def _parse(row_type: type[Row], path: Path, line: int, cells: dict[str, str]) -> Row:
    values: dict[str, Any] = {}
    for column, (convert, empty) in _converters(row_type).items():
        text = cells.get(column, "")
        if text:
            try:
                values[column] = convert(text)
            except ValueError as error:
                raise CatalogError(
                    f"column `{column}` has `{text}`",
                    place=f"{path.name} line {line}",
                    why=str(error),
                    fix="write such a value, or leave the cell empty where it is unknown",
                ) from error
        elif empty is MISSING:
            raise CatalogError(
                f"column `{column}` is empty",
                place=f"{path.name} line {line}",
                why="nothing can be decided for the row without it",
                fix=f"fill in `{column}`",
            )
        else:
            values[column] = empty
    return row_type(**values)


def _converters(row_type: type[Any]) -> dict[str, tuple[Callable[[str], Any], Any]]:
    """Return for each column how to read it, and what an empty cell means (MISSING: it may not be empty)."""
    made = _converters_made.get(row_type)
    if made is not None:
        return made
    known: dict[Any, tuple[Callable[[str], Any], Any]] = {
        str: (str, ""),
        Filled: (str, MISSING),
        int: (_whole, MISSING),
        float: (_number, MISSING),
        bool: (_truth, MISSING),
        int | None: (_whole, None),
        float | None: (_number, None),
        bool | None: (_truth, None),
        tuple[str, ...]: (_words, ()),
        tuple[int, ...]: (_wholes, ()),
    }
    converters = {field.name: known[field.type] for field in fields(row_type)}
    _converters_made[row_type] = converters
    return converters


_converters_made: dict[type[Any], dict[str, tuple[Callable[[str], Any], Any]]] = {}


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        pass
    value = _number(text)
    if value != int(value):
        raise ValueError("it must be a whole number")
    return int(value)


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise ValueError("it must be a number") from None
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError("it must be a finite number")
    return value


def _truth(text: str) -> bool:
    if text in ("yes", "1"):
        return True
    if text in ("no", "0"):
        return False
    raise ValueError("it must be yes or no")


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(LIST_MARK) if word.strip())


def _wholes(text: str) -> tuple[int, ...]:
    return tuple(_whole(word) for word in _words(text))
