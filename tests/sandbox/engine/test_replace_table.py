"""The table of properties whose change replaces a resource."""

import csv
from pathlib import Path

import pytest
from gpukit_sandbox.provider import sdk_types
from gpukit_sandbox.provider.sdk_types import nested_type

import gpukit

TABLE = Path(gpukit.__file__).parent / "preview" / "replace_on_change.csv"
ROWS = list(csv.DictReader(TABLE.open(encoding="utf-8", newline="")))


def test_rows_are_sorted_and_unique() -> None:
    keys = [(row["type_token"], row["property"]) for row in ROWS]

    assert sorted(set(keys)) == keys


@pytest.mark.parametrize("token", sorted({row["type_token"] for row in ROWS}))
def test_every_property_exists_in_the_sdk(token: str) -> None:
    declared = sdk_types.resource_type(token)
    assert declared is not None
    for row in ROWS:
        if row["type_token"] != token:
            continue
        known = declared.inputs
        for part in row["property"].split("."):
            assert part in known, row
            known = nested_type(known[part].strip("[]")) or {}


def test_every_row_has_a_source_and_a_date() -> None:
    assert all(row["source"] and row["as_of"] for row in ROWS)


def test_every_type_with_a_region_is_replaced_by_another_region() -> None:
    replaced = {row["type_token"] for row in ROWS if row["property"] == "region"}

    assert {t for t in sdk_types.known_tokens() if "region" in sdk_types.resource_type(t).inputs} == replaced  # type: ignore[union-attr]
