"""The catalogue: every table, each read when it is first asked for."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from gpukit.catalog.fact import CatalogError, Fact, Source, UnknownName
from gpukit.catalog.reading import read_table

if TYPE_CHECKING:
    from gpukit.catalog import hardware, knowledge, places, rules, storage

Row = TypeVar("Row")
DATA: Final = Path(__file__).parent / "data"
"""Where the shipped tables lie."""


class Catalog:
    """
    Facts by name. Rows are frozen; unknown values are None; unknown names raise UnknownName with the nearest ones.

    Methods that return a tuple return it in a stable order, the table's own unless said.
    """

    def __init__(self, overrides: Path | None = None) -> None:
        self._overrides = overrides
        if overrides is not None:
            _check_overrides(overrides)

    # Instance types -------------------------------------------------------------------------------------------

    def instance_types(self) -> tuple["hardware.InstanceType", ...]:
        """Return all GPU instance types."""
        return tuple(self._instance_types.values())

    def instance_type(self, name: str) -> "hardware.InstanceType":
        """Return a GPU instance type; UnknownName where there is none."""
        return _find("instance type", name, self._instance_types)

    def has_instance_type(self, name: str) -> bool:
        """Tell whether the name is a GPU instance type of the catalogue."""
        return name in self._instance_types

    def helper_types(self) -> tuple["hardware.HelperType", ...]:
        """Return the instance types without GPUs."""
        return tuple(self._helper_types.values())

    def helper_type(self, name: str) -> "hardware.HelperType":
        """Return an instance type without GPUs; UnknownName where there is none."""
        return _find("helper instance type", name, self._helper_types)

    def has_helper_type(self, name: str) -> bool:
        """Tell whether the name is an instance type without GPUs of the catalogue."""
        return name in self._helper_types

    def network_cards(self, name: str) -> tuple["hardware.NetworkCard", ...]:
        """
        Return the network cards of a GPU instance type, one each, by index.

        A type without rows in the table of cards is taken as uniform: its cards are alike, EFA included, but for a
        card 0 without EFA. Empty where even the number of cards is unknown.
        """
        cards = self._network_cards.get(name)
        return cards if cards is not None else _uniform_cards(self.instance_type(name))

    def gpu_models(self) -> tuple["hardware.GpuModel", ...]:
        """Return all GPU models."""
        return tuple(self._gpu_models.values())

    def gpu_model(self, name: str) -> "hardware.GpuModel":
        """Return a GPU model; UnknownName where there is none."""
        return _find("GPU model", name, self._gpu_models)

    def ultraservers(self) -> tuple["hardware.UltraServer", ...]:
        """Return all UltraServers."""
        return tuple(self._ultraservers.values())

    def ultraserver(self, name: str) -> "hardware.UltraServer":
        """Return an UltraServer, e.g. `u-p6e-gb200x72`; UnknownName where there is none."""
        return _find("UltraServer", name, self._ultraservers)

    def ultraserver_of(self, instance_type: str) -> "hardware.UltraServer | None":
        """Return the largest UltraServer made of this instance type, or None: a whole rack where there is one."""
        made = [server for server in self.ultraservers() if server.instance_type == instance_type]
        return max(made, key=lambda server: server.instances, default=None)

    def node_power(self, name: str) -> "hardware.NodePower | None":
        """Return the power of a GPU instance type with its basis; derived by the power rules where no row has it."""
        if name in self._node_power:
            return self._node_power[name]
        from gpukit.catalog.power import choose_power_rule, estimate_node_power

        instance = self.instance_type(name)
        rule = choose_power_rule(name, self.power_rules())
        if rule is None:
            return None
        return estimate_node_power(instance, self.gpu_model(instance.gpu_model), rule, self.server_power())

    def node_power_kw(self, name: str) -> Fact | None:
        """Return the electrical power of one instance at full load, in kW."""
        row = self.node_power(name)
        if row is None:
            return None
        doubts = f"{row.kind}: {row.basis}" + (f" ; {row.doubts}" if row.doubts else "")
        return Fact(value=row.kw, unit="kW", source=row.source, as_of=row.as_of, doubts=doubts)

    def power_rules(self) -> tuple["hardware.PowerRule", ...]:
        """Return the rules by which node power is derived."""
        from gpukit.catalog.hardware import PowerRule

        return self._read(PowerRule, "power_rules", key=("id",))

    def server_power(self) -> tuple["hardware.ServerPower", ...]:
        """Return published power figures of servers, racks, GPUs and parts."""
        from gpukit.catalog.hardware import ServerPower

        return self._read(ServerPower, "server_power", key=("system",))

    # Places ---------------------------------------------------------------------------------------------------

    def regions(self) -> tuple["places.Region", ...]:
        """Return all regions, by name."""
        return tuple(self._regions.values())

    def region(self, name: str) -> "places.Region":
        """Return a region; UnknownName where there is none."""
        return _find("region", name, self._regions)

    def zones(self, region: str) -> tuple["places.Zone", ...]:
        """Return the zones of a region: availability zones first, then local zones, each by name."""
        self.region(region)
        return self._zones_by_region.get(region, ())

    def zone(self, name_or_id: str) -> "places.Zone":
        """Return a zone by its name (`us-east-1a`) or id (`use1-az1`); UnknownName where there is none."""
        if name_or_id in self._zones_by_id:
            return self._zones_by_id[name_or_id]
        return _find("zone", name_or_id, {zone.name: zone for zone in self._zones_by_id.values()})

    def offerings_known(self, name: str) -> bool:
        """Tell whether anything is known on where the type is offered; if not, an empty answer proves nothing."""
        return name in self._offerings

    def regions_offering(self, name: str) -> tuple[str, ...]:
        """Return the regions that offer the instance type, by name; empty also where nothing is known."""
        return tuple(sorted(self._offerings.get(name, {})))

    def zones_offering(self, name: str, region: str) -> tuple[str, ...]:
        """Return the names of the region's zones that offer the instance type, in the order of `zones`."""
        offering = self._offerings.get(name, {}).get(region)
        if offering is None:
            return ()
        return tuple(zone.name for zone in self.zones(region) if zone.id in offering.zone_ids)

    def energy(self, region: str, provider: str = "aws") -> "places.RegionEnergy | None":
        """Return carbon and efficiency figures of a region or local zone; None where nothing is known."""
        return self._energy.get((provider, region))

    def pue(self, region: str, provider: str = "aws") -> Fact | None:
        """Return the power usage effectiveness of a region's data centres; the basis is in `doubts`."""
        row = self.energy(region, provider)
        if row is None or row.pue is None:
            return None
        doubts = f"{row.pue_basis}, {row.pue_year}" if row.pue_year else row.pue_basis
        return Fact(value=row.pue, unit="ratio", source=row.source, as_of=row.as_of, doubts=doubts)

    def facility_figures(self) -> tuple["places.FacilityFigure", ...]:
        """Return published figures on data-centre efficiency."""
        from gpukit.catalog.places import FacilityFigure

        return self._read(FacilityFigure, "pue", key=("id",))

    # Rules and money ------------------------------------------------------------------------------------------

    def limits(self) -> tuple["rules.Limit", ...]:
        """Return all quotas and hard limits."""
        return tuple(self._limits.values())

    def limit(self, id: str) -> "rules.Limit":
        """Return a limit, e.g. `eni-per-region`; UnknownName where there is none."""
        return _find("limit", id, self._limits)

    def capacity_modes(self) -> tuple["rules.CapacityMode", ...]:
        """Return the table of capacity modes."""
        from gpukit.catalog.rules import CapacityMode

        return self._read(CapacityMode, "capacity_modes", key=("mode", "reservation", "nodes", "efa"))

    def capacity_mode(
        self, mode: str, *, nodes: int, efa: bool, reservation: str | None = None
    ) -> "rules.CapacityMode":
        """
        Return the one row that decides for a node group of this mode, size, EFA and kind of reservation.

        `reservation` is `id`, `resource-group` or `none`; without it, `id` for the modes that need one.
        """
        kinds = [row.reservation for row in self.capacity_modes() if row.mode == mode]
        if not kinds:
            raise UnknownName("capacity mode", mode, tuple({row.mode for row in self.capacity_modes()}))
        wanted = reservation or kinds[0]
        for row in self.capacity_modes():
            if row.covers(mode=mode, nodes=nodes, efa=efa, reservation=wanted):
                return row
        raise UnknownName(f"kind of reservation for {mode}", wanted, tuple(set(kinds)))

    def capacity_block_rules(self) -> tuple["rules.CapacityBlockRule", ...]:
        """Return the numbers that AWS sets for Capacity Blocks."""
        return tuple(self._capacity_block_rules.values())

    def capacity_block_rule(self, id: str) -> "rules.CapacityBlockRule":
        """Return a number for Capacity Blocks, e.g. `max-instances-per-block`; UnknownName where there is none."""
        return _find("Capacity Block rule", id, self._capacity_block_rules)

    def prices(self) -> tuple["rules.Price", ...]:
        """Return all list prices but those of GPU instances."""
        return tuple(self._prices.values())

    def price(self, id: str) -> "rules.Price":
        """Return a list price, e.g. `nat-gateway-hour` or `ec2/m7i.xlarge`; UnknownName where there is none."""
        return _find("price", id, self._prices)

    def on_demand_usd_per_hour(self, name: str, region: str) -> Fact | None:
        """Return the on-demand list price of a GPU or helper type; None where it is unknown for the region."""
        if name in self._helper_types:
            price = self._prices.get(f"ec2/{name}")
            return price.fact() if price is not None and price.region == region else None
        row = self.instance_type(name)
        if region != PRICED_REGION or row.usd_per_hour_on_demand is None:
            return None
        return Fact(value=row.usd_per_hour_on_demand, unit="USD/hour", source=row.source, as_of=row.price_as_of)

    def capacity_block_prices(self) -> tuple["rules.CapacityBlockPrice", ...]:
        """Return the list prices of Capacity Blocks."""
        from gpukit.catalog.rules import CapacityBlockPrice

        return self._read(CapacityBlockPrice, "capacity_block_prices", key=("name",))

    def capacity_block_usd_per_hour(self, name: str, region: str) -> Fact | None:
        """
        Return the Capacity Block list price of one instance, or of one UltraServer by its name; None where unknown.

        An instance type that is sold in UltraServers only is priced at its share of the largest one.
        """
        for row in self.capacity_block_prices():
            if row.name == name and ("*" in row.regions or region in row.regions):
                return Fact(
                    value=row.usd_per_hour, unit="USD/hour", source=row.source, as_of=row.as_of, doubts=row.doubts
                )
        server = self.ultraserver_of(name)
        whole = self.capacity_block_usd_per_hour(server.name, region) if server is not None else None
        if server is None or whole is None:
            return None
        share = f"1/{server.instances} of {server.name}"
        return replace(whole, value=whole.value / server.instances, doubts=f"{share} ; {whole.doubts}")

    # Storage --------------------------------------------------------------------------------------------------

    def storage_offers(self, kind: str | None = None) -> tuple["storage.StorageOffer", ...]:
        """Return all storage offers, or those of one kind: lustre, efs, s3, ebs, local-nvme."""
        return tuple(row for row in self._storage_offers.values() if kind is None or row.kind == kind)

    def storage_offer(self, id: str) -> "storage.StorageOffer":
        """Return a storage offer, e.g. `fsxl-p2-ssd-efa-500`; UnknownName where there is none."""
        return _find("storage offer", id, self._storage_offers)

    def metadata_iops(self) -> tuple["storage.MetadataIops", ...]:
        """Return the metadata IOPS rules of FSx for Lustre."""
        from gpukit.catalog.storage import MetadataIops

        return self._read(MetadataIops, "fsx_metadata_iops", key=("file_system_type", "mode", "key", "key_min"))

    # Practice -------------------------------------------------------------------------------------------------

    def k8s_components(self) -> tuple["knowledge.K8sComponent", ...]:
        """Return Kubernetes add-ons and tools with versions."""
        from gpukit.catalog.knowledge import K8sComponent

        return self._read(K8sComponent, "k8s_components", key=("component",))

    def nccl_env_rules(self) -> tuple["knowledge.NcclEnvRule", ...]:
        """Return what to do with each NCCL, libfabric and PyTorch variable."""
        from gpukit.catalog.knowledge import NcclEnvRule

        return self._read(NcclEnvRule, "nccl_env_rules", key=("variable", "action", "condition"))

    def nccl_platforms(self) -> tuple["knowledge.NcclPlatform", ...]:
        """Return what the EFA plugin for NCCL sets by itself, by family; the first match counts."""
        from gpukit.catalog.knowledge import NcclPlatform

        return self._read(NcclPlatform, "nccl_platforms", key=("position",))

    def bus_bandwidths(self) -> tuple["knowledge.BusBandwidth", ...]:
        """Return measured and expected bus bandwidths of collectives."""
        from gpukit.catalog.knowledge import BusBandwidth

        key = ("platform", "provider", "nodes", "collective", "message", "kind", "bus_gb_s")
        return self._read(BusBandwidth, "nccl_busbw", key=key)

    def os_settings(self) -> tuple["knowledge.OsSetting", ...]:
        """Return operating system and pod settings."""
        from gpukit.catalog.knowledge import OsSetting

        return self._read(OsSetting, "os_settings", key=("area", "key", "applies_to"))

    def failure_rates(self) -> tuple["knowledge.FailureRate", ...]:
        """Return interruptions that published trainings counted."""
        from gpukit.catalog.knowledge import FailureRate

        return self._read(FailureRate, "failure_rates", key=("study", "cause"))

    def training_points(self) -> tuple["knowledge.TrainingPoint", ...]:
        """Return published training throughputs."""
        from gpukit.catalog.knowledge import TrainingPoint

        key = ("study", "model", "accelerator", "accelerators", "seq", "layout")
        return self._read(TrainingPoint, "training_points", key=key)

    def training_runs(self) -> tuple["knowledge.TrainingRun", ...]:
        """Return whole published trainings."""
        from gpukit.catalog.knowledge import TrainingRun

        return self._read(TrainingRun, "training_runs", key=("model",))

    def sources(self) -> tuple[Source, ...]:
        """Return all sources."""
        return tuple(self._sources.values())

    def source(self, slug: str) -> Source:
        """Return where a slug points to; UnknownName where there is none."""
        return _find("source", slug, self._sources)

    # Tables ---------------------------------------------------------------------------------------------------

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

        cards: dict[str, list[hardware.NetworkCard]] = {}
        for row in self._read(NetworkCardRange, "network_cards", key=("instance_type", "card_from")):
            cards.setdefault(row.instance_type, []).extend(_expand(row))
        return {name: tuple(sorted(found, key=lambda card: card.index)) for name, found in cards.items()}

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
    def _offerings(self) -> "dict[str, dict[str, places.Offering]]":
        from gpukit.catalog.places import Offering

        offerings: dict[str, dict[str, places.Offering]] = {}
        for row in self._read(Offering, "instance_offerings", key=("instance_type", "region")):
            offerings.setdefault(row.instance_type, {})[row.region] = row
        return offerings

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
            changed = self._overrides / f"{table}.csv" if self._overrides is not None else None
            if changed is not None and not changed.is_file():
                changed = None
            found = read_table(row_type, DATA / f"{table}.csv", key=key, overrides=changed)
            self._cache[table] = found
        return found

    @cached_property
    def _cache(self) -> dict[str, tuple[object, ...]]:
        return {}


PRICED_REGION: Final = "us-east-1"
"""The region of the on-demand prices in the table of instance types."""


def _find(kind: str, name: str, table: dict[str, Row]) -> Row:
    try:
        return table[name]
    except KeyError:
        raise UnknownName(kind, name, tuple(table)) from None


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


def _expand(row: "hardware.NetworkCardRange") -> "list[hardware.NetworkCard]":
    from gpukit.catalog.hardware import NetworkCard

    return [
        NetworkCard(
            instance_type=row.instance_type,
            index=index,
            max_enis=row.max_enis,
            interface_types=row.interface_types,
            efa_gbps=row.efa_gbps,
            ena_gbps=row.ena_gbps,
            efa_default=row.efa_default,
            efa_default_device_index=row.efa_default_device_index,
            source=row.source,
            as_of=row.as_of,
            doubts=row.doubts,
        )
        for index in range(row.card_from, row.card_to + 1)
    ]


def _uniform_cards(instance: "hardware.InstanceType") -> "tuple[hardware.NetworkCard, ...]":
    from gpukit.catalog.hardware import NetworkCard

    if not instance.network_cards:
        return ()
    cards = []
    for index in range(instance.network_cards):
        efa = instance.supports_efa and (index > 0 or instance.efa_on_card0 is not False)
        cards.append(
            NetworkCard(
                instance_type=instance.name,
                index=index,
                max_enis=instance.default_card_max_enis,
                interface_types=("interface", "efa", "efa-only") if efa else ("interface",),
                efa_gbps=None if efa else 0.0,
                ena_gbps=None,
                efa_default=efa,
                efa_default_device_index=(1 if index == 0 else 0) if efa else None,
                source=instance.source,
                as_of=instance.as_of,
                doubts="no row in the table of network cards: taken as uniform",
            )
        )
    return tuple(cards)
