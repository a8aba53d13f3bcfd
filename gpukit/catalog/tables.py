"""The tables of the catalogue, each read when it is first asked for."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from gpukit.catalog.fact import CatalogError, Source
from gpukit.catalog.reading import RawRow, parse_rows, read_groups, read_table

if TYPE_CHECKING:
    from gpukit.catalog import hardware, places, rules, storage

Row = TypeVar("Row")
DATA: Final = Path(__file__).parent / "data"
"""Where the shipped tables lie."""


class Tables:
    """Rows by key. Row types are imported with their table, so that a command pays for what it reads."""

    def __init__(self, overrides: Path | None = None) -> None:
        self._overrides = overrides
        if overrides is not None:
            _check_overrides(overrides)

    @cached_property
    def _instance_types(self) -> "dict[str, hardware.InstanceType]":
        from gpukit.catalog.hardware import InstanceType

        return {row.name: row for row in self._read(InstanceType, "instance_types", key=("name",))}

    @cached_property
    def _helper_types(self) -> "dict[str, hardware.HelperType]":
        from gpukit.catalog.hardware import HelperType

        return {row.name: row for row in self._read(HelperType, "helper_types", key=("name",))}

    @cached_property
    def _network_cards(self) -> "dict[str, tuple[hardware.NetworkCard, ...]]":
        from gpukit.catalog.hardware import NetworkCardRange
        from gpukit.catalog.network_cards import expand_range, require_distinct_cards

        cards: dict[str, list[hardware.NetworkCard]] = {}
        for row in self._read(NetworkCardRange, "network_cards", key=("instance_type", "card_from")):
            cards.setdefault(row.instance_type, []).extend(expand_range(row))
        for name, found in cards.items():
            found.sort(key=lambda card: card.index)
            require_distinct_cards(name, found)
        return {name: tuple(found) for name, found in cards.items()}

    @cached_property
    def _gpu_models(self) -> "dict[str, hardware.GpuModel]":
        from gpukit.catalog.hardware import GpuModel

        return {row.model: row for row in self._read(GpuModel, "gpu_models", key=("model",))}

    @cached_property
    def _ultraservers(self) -> "dict[str, hardware.UltraServer]":
        from gpukit.catalog.hardware import UltraServer

        return {row.name: row for row in self._read(UltraServer, "ultraservers", key=("name",))}

    @cached_property
    def _node_power(self) -> "dict[str, hardware.NodePower]":
        from gpukit.catalog.hardware import NodePower

        return {row.instance_type: row for row in self._read(NodePower, "node_power", key=("instance_type",))}

    @cached_property
    def _regions(self) -> "dict[str, places.Region]":
        from gpukit.catalog.places import Region

        return {row.name: row for row in sorted(self._read(Region, "regions", key=("name",)), key=lambda r: r.name)}

    @cached_property
    def _zones_by_id(self) -> "dict[str, places.Zone]":
        from gpukit.catalog.places import Zone

        return {row.id: row for row in self._read(Zone, "zones", key=("id",))}

    @cached_property
    def _zones_by_region(self) -> "dict[str, tuple[places.Zone, ...]]":
        zones: dict[str, list[places.Zone]] = {}
        # Local zones come last: their names would sort before the availability zones of their region.
        for zone in sorted(self._zones_by_id.values(), key=lambda zone: (zone.kind != "availability-zone", zone.name)):
            zones.setdefault(zone.region, []).append(zone)
        return {region: tuple(found) for region, found in zones.items()}

    @cached_property
    def _offers_by_type(self) -> dict[str, list[RawRow]]:
        from gpukit.catalog.places import Offering

        # The longest table by far: a plan asks for one or two types of the hundred.
        name = "instance_offerings"
        key = ("instance_type", "region")
        return read_groups(Offering, DATA / f"{name}.csv", key=key, overrides=self._changed(name))

    def _offerings(self, name: str) -> "dict[str, places.Offering]":
        from gpukit.catalog.places import Offering

        found = self._offerings_read.get(name)
        if found is None:
            rows = parse_rows(Offering, self._offers_by_type.get(name, ()))
            found = self._offerings_read[name] = {row.region: row for row in rows}
        return found

    @cached_property
    def _offerings_read(self) -> "dict[str, dict[str, places.Offering]]":
        return {}

    @cached_property
    def _energy(self) -> "dict[tuple[str, str], places.RegionEnergy]":
        from gpukit.catalog.places import RegionEnergy

        rows = self._read(RegionEnergy, "energy", key=("provider", "region"))
        return {(row.provider, row.region): row for row in rows}

    @cached_property
    def _limits(self) -> "dict[str, rules.Limit]":
        from gpukit.catalog.rules import Limit

        return {row.id: row for row in self._read(Limit, "limits", key=("id",))}

    @cached_property
    def _capacity_block_rules(self) -> "dict[str, rules.CapacityBlockRule]":
        from gpukit.catalog.rules import CapacityBlockRule

        return {row.id: row for row in self._read(CapacityBlockRule, "capacity_block_rules", key=("id",))}

    @cached_property
    def _prices(self) -> "dict[str, rules.Price]":
        from gpukit.catalog.rules import Price

        return {row.id: row for row in self._read(Price, "prices", key=("id",))}

    @cached_property
    def _storage_offers(self) -> "dict[str, storage.StorageOffer]":
        from gpukit.catalog.storage import StorageOffer

        return {row.id: row for row in self._read(StorageOffer, "storage_offers", key=("id",))}

    @cached_property
    def _sources(self) -> dict[str, Source]:
        return {row.slug: row for row in self._read(Source, "sources", key=("slug",))}

    def _read(self, row_type: type[Row], table: str, *, key: tuple[str, ...]) -> tuple[Row, ...]:
        found: tuple[Row, ...] | None = self._cache.get(table)  # type: ignore[assignment]
        if found is None:
            found = read_table(row_type, DATA / f"{table}.csv", key=key, overrides=self._changed(table))
            self._cache[table] = found
        return found

    def _changed(self, table: str) -> Path | None:
        """Return the file with overrides of the table, or None."""
        changed = self._overrides / f"{table}.csv" if self._overrides is not None else None
        return changed if changed is not None and changed.is_file() else None

    @cached_property
    def _cache(self) -> dict[str, tuple[object, ...]]:
        return {}


def _check_overrides(folder: Path) -> None:
    """Raise CatalogError where the folder is missing or holds a table that nothing would read."""
    if not folder.is_dir():
        raise CatalogError(
            f"the folder `{folder}` does not exist",
            place=str(folder),
            why="it was named as the place of catalogue overrides",
            fix="create it, or leave the option out",
        )
    tables = {path.name for path in DATA.glob("*.csv")}
    for path in sorted(folder.glob("*.csv")):
        if path.name not in tables:
            from gpukit.nearest import nearest

            near = nearest(path.name, tables)
            raise CatalogError(
                f"`{path.name}` is no table of the catalogue",
                place=str(path),
                why="a file that nothing reads would be lost in silence",
                fix=f"call it `{near[0]}`" if near else f"use one of {', '.join(sorted(tables))}",
            )
