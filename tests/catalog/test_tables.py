"""Every row of every table: it parses, has its own key, a source that exists, and a date that is one."""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import date
from typing import Any

import pytest

from gpukit.catalog import DATA, Catalog, Source, hardware, knowledge, places, rules, storage


@dataclass(frozen=True)
class Table:
    name: str
    row_type: type[Any]
    key: tuple[str, ...]
    rows: Callable[[Catalog], Any]
    at_least: int


TABLES = (
    Table("instance_types", hardware.InstanceType, ("name",), lambda c: c.instance_types(), 70),
    Table("network_cards", hardware.NetworkCardRange, ("instance_type", "card_from"), lambda c: _card_ranges(c), 100),
    Table("gpu_models", hardware.GpuModel, ("model",), lambda c: c.gpu_models(), 20),
    Table("ultraservers", hardware.UltraServer, ("name",), lambda c: c.ultraservers(), 3),
    Table("helper_types", hardware.HelperType, ("name",), lambda c: c.helper_types(), 20),
    Table("node_power", hardware.NodePower, ("instance_type",), lambda c: tuple(c._node_power.values()), 70),
    Table("server_power", hardware.ServerPower, ("system",), lambda c: c.server_power(), 20),
    Table("power_rules", hardware.PowerRule, ("id",), lambda c: c.power_rules(), 5),
    Table("regions", places.Region, ("name",), lambda c: c.regions(), 30),
    Table("zones", places.Zone, ("id",), lambda c: tuple(c._zones_by_id.values()), 90),
    Table("instance_offerings", places.Offering, ("instance_type", "region"), lambda c: _offerings(c), 1000),
    Table("energy", places.RegionEnergy, ("provider", "region"), lambda c: tuple(c._energy.values()), 80),
    Table("pue", places.FacilityFigure, ("id",), lambda c: c.facility_figures(), 30),
    Table("limits", rules.Limit, ("id",), lambda c: c.limits(), 101),
    Table(
        "capacity_modes", rules.CapacityMode, ("mode", "reservation", "nodes", "efa"), lambda c: c.capacity_modes(), 6
    ),
    Table("capacity_block_rules", rules.CapacityBlockRule, ("id",), lambda c: c.capacity_block_rules(), 10),
    Table("capacity_block_prices", rules.CapacityBlockPrice, ("name",), lambda c: c.capacity_block_prices(), 9),
    Table("prices", rules.Price, ("id",), lambda c: c.prices(), 40),
    Table("storage_offers", storage.StorageOffer, ("id",), lambda c: c.storage_offers(), 20),
    Table(
        "fsx_metadata_iops",
        storage.MetadataIops,
        ("file_system_type", "mode", "key", "key_min"),
        lambda c: c.metadata_iops(),
        8,
    ),
    Table("k8s_components", knowledge.K8sComponent, ("component",), lambda c: c.k8s_components(), 20),
    Table("nccl_env_rules", knowledge.NcclEnvRule, ("variable", "value", "action"), lambda c: c.nccl_env_rules(), 20),
    Table("nccl_platforms", knowledge.NcclPlatform, ("position",), lambda c: c.nccl_platforms(), 10),
    Table(
        "nccl_busbw",
        knowledge.BusBandwidth,
        ("platform", "provider", "nodes", "collective", "message", "kind", "bus_gb_s"),
        lambda c: c.bus_bandwidths(),
        30,
    ),
    Table("os_settings", knowledge.OsSetting, ("area", "key", "applies_to"), lambda c: c.os_settings(), 25),
    Table("failure_rates", knowledge.FailureRate, ("study", "cause"), lambda c: c.failure_rates(), 20),
    Table(
        "training_points",
        knowledge.TrainingPoint,
        ("study", "model", "accelerator", "accelerators", "seq", "layout"),
        lambda c: c.training_points(),
        40,
    ),
    Table("training_runs", knowledge.TrainingRun, ("model",), lambda c: c.training_runs(), 10),
    Table("sources", Source, ("slug",), lambda c: c.sources(), 80),
)
INPUTS = {"added_zones", "added_offerings"}
"""Read by scripts/make_catalog.py, not by the loader."""
each_table = pytest.mark.parametrize("table", [pytest.param(table, id=table.name) for table in TABLES])


def _card_ranges(catalog: Catalog) -> tuple[hardware.NetworkCardRange, ...]:
    catalog.network_cards("p5.48xlarge")
    return catalog._cache["network_cards"]  # type: ignore[return-value]


def _offerings(catalog: Catalog) -> tuple[places.Offering, ...]:
    return tuple(row for name in catalog._offers_by_type for row in catalog._offerings(name).values())


def test_every_table_has_its_file() -> None:
    """Tables of other packages lie beside them (images, EKS versions), with their own readers and tests."""
    assert {table.name for table in TABLES} | INPUTS <= {path.stem for path in DATA.glob("*.csv")}


@each_table
def test_every_row_parses(table: Table, catalog: Catalog) -> None:
    with (DATA / f"{table.name}.csv").open(newline="", encoding="utf-8") as file:
        written = [cells for cells in csv.reader(file) if cells and not cells[0].startswith("#")]

    rows = table.rows(catalog)

    assert len(rows) == len(written) - 1
    assert len(rows) >= table.at_least
    assert all(isinstance(row, table.row_type) for row in rows)


@each_table
def test_the_columns_are_the_fields_of_the_row(table: Table) -> None:
    with (DATA / f"{table.name}.csv").open(newline="", encoding="utf-8") as file:
        header = next(cells for cells in csv.reader(file) if not cells[0].startswith("#"))

    assert {field.name for field in fields(table.row_type)} == set(header)


@each_table
def test_no_two_rows_have_one_key(table: Table, catalog: Catalog) -> None:
    keys = [tuple(getattr(row, column) for column in table.key) for row in table.rows(catalog)]

    assert sorted(map(str, set(keys))) == sorted(map(str, keys))


@each_table
def test_every_row_has_a_source_that_exists(table: Table, catalog: Catalog) -> None:
    if table.name == "sources":
        assert all(row.where for row in table.rows(catalog))
        return
    for row in table.rows(catalog):
        slugs = row.source.split(";")

        assert slugs
        for slug in slugs:
            assert catalog.source(slug).slug == slug, row


@each_table
def test_every_row_has_a_date(table: Table, catalog: Catalog) -> None:
    for row in table.rows(catalog):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row.as_of), row
        assert date(2018, 1, 1) <= date.fromisoformat(row.as_of) <= date(2026, 12, 31), row


@each_table
def test_cells_are_tidy(table: Table) -> None:
    """Outer blanks and line breaks would make equal words unequal."""
    with (DATA / f"{table.name}.csv").open(newline="", encoding="utf-8") as file:
        for number, cells in enumerate(csv.reader(file), start=1):
            if cells[0].startswith("#"):
                continue
            for cell in cells:
                assert cell == cell.strip(), f"line {number}: {cell!r}"
                assert "\n" not in cell, f"line {number}: {cell!r}"


def test_sources_say_how_far_to_trust_them(catalog: Catalog) -> None:
    assert {source.trust for source in catalog.sources()} <= {"high", "medium", "low", "derived"}


def test_every_number_from_memory_alone_says_so_in_its_doubts(catalog: Catalog) -> None:
    silent = [
        f"{table.name}: {row}"
        for table in TABLES
        if table.name in {"prices", "limits", "capacity_block_rules", "storage_offers"}
        for row in table.rows(catalog)
        if row.source == "memory" and not row.doubts
    ]

    assert silent == []
