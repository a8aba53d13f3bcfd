"""The catalogue: facts by name."""

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar

from gpukit.catalog.fact import Fact, Source, UnknownName
from gpukit.catalog.tables import Tables

if TYPE_CHECKING:
    from gpukit.catalog import hardware, knowledge, places, rules, storage

Row = TypeVar("Row")
PRICED_REGION: Final = "us-east-1"
"""The region of the on-demand prices in the table of instance types."""


class Catalog(Tables):
    """
    Facts by name. Rows are frozen; unknown values are None; unknown names raise UnknownName with the nearest ones.

    Methods that return a tuple return it in a stable order, the table's own unless said.
    """

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
        if cards is not None:
            return cards
        from gpukit.catalog.network_cards import lay_out_uniform_cards

        return lay_out_uniform_cards(self.instance_type(name))

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
        return name in self._offers_by_type

    def regions_offering(self, name: str) -> tuple[str, ...]:
        """Return the regions that offer the instance type, by name; empty also where nothing is known."""
        return tuple(sorted(self._offerings(name)))

    def zones_offering(self, name: str, region: str) -> tuple[str, ...]:
        """Return the names of the region's zones that offer the instance type, in the order of `zones`."""
        offering = self._offerings(name).get(region)
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


def _find(kind: str, name: str, table: dict[str, Row]) -> Row:
    try:
        return table[name]
    except KeyError:
        raise UnknownName(kind, name, tuple(table)) from None
