"""Add up the heat of each cooling zone, and the power of the whole plan."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpukit.plan import CoolingZonePlan, Decision, PoolPlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.spec.model import CoolingZoneSpec


def add_up_cooling_zones(
    zones: "dict[str, CoolingZoneSpec]", pools: Sequence[PoolPlan]
) -> tuple[tuple[CoolingZonePlan, ...], list[Decision]]:
    """
    Return each zone with what its pools need at full size, in kW of IT power.

    A zone with a pool of unknown power has unknown power: a sum that leaves something out would read as safe.
    """
    plans: list[CoolingZonePlan] = []
    decisions: list[Decision] = []
    for name in sorted(zones):
        zone = zones[name]
        members = [pool for pool in pools if pool.cooling_zone == name]
        nodes = sum(pool.max_nodes for pool in members)
        known = [pool.kw_per_node * pool.max_nodes for pool in members if pool.kw_per_node is not None]
        it_kw = sum(known) if len(known) == len(members) else None
        racks = zone.racks
        plans.append(
            CoolingZonePlan(
                name=name,
                method=str(zone.method),
                availability_zone=zone.availability_zone or _shared_zone(members),
                racks=racks,
                envelope_kw=zone.envelope_kw,
                nodes=nodes,
                gpus=sum(pool.gpus_per_node * pool.max_nodes for pool in members),
                it_kw=it_kw,
                kw_per_rack=it_kw / racks if it_kw is not None and racks else None,
                used_pct=100 * it_kw / zone.envelope_kw if it_kw is not None and zone.envelope_kw else None,
                pools=tuple(pool.name for pool in members),
            )
        )
        decisions.append(
            Decision(
                subject=f"cooling_zones.{name}",
                choice="unknown kW"
                if it_kw is None
                else f"{it_kw:,.1f} kW for {nodes} nodes" + (f", {it_kw / racks:,.1f} kW a rack" if racks else ""),
                because="the zone must cool every node of its pools at full size and full power",
                source="; ".join(
                    sorted({f"{pool.instance_type} {pool.kw_per_node} kW" for pool in members if pool.kw_per_node})
                ),
            )
        )
    return tuple(plans), decisions


def it_power_kw(pools: Sequence[PoolPlan]) -> float | None:
    """Return the IT power of all pools at plan size in kW; None where a pool's power is unknown."""
    known = [pool.kw_per_node * pool.nodes for pool in pools if pool.kw_per_node is not None]
    return sum(known) if len(known) == len(pools) else None


def facility_power_kw(it_kw: float | None, region: str, catalog: "Catalog") -> tuple[float | None, Decision]:
    """Return IT power times the region's PUE, and where that PUE comes from."""
    pue = catalog.pue(region)
    if it_kw is None or pue is None:
        return None, Decision(
            subject="totals.facility_kw",
            choice="unknown",
            because="the power of a node or the PUE is not known",
            source="",
        )
    return it_kw * pue.value, Decision(
        subject="totals.facility_kw",
        choice=f"{it_kw * pue.value:,.1f} kW",
        because=f"{it_kw:,.1f} kW of IT power times a PUE of {pue.value:g}",
        source=pue.source,
    )


def carbon_kg_per_month(
    facility_kw: float | None, region: str, catalog: "Catalog", hours: int
) -> tuple[float | None, Decision]:
    """Return location-based kgCO2e a month: facility power x hours x the grid's average factor."""
    energy = catalog.energy(region)
    factor = energy.alt_gco2_kwh if energy is not None else None
    if facility_kw is None or energy is None or factor is None:
        return None, Decision(
            subject="totals.kgco2e_per_month", choice="unknown", because="power or grid factor is not known", source=""
        )
    kilograms = facility_kw * hours * factor / 1000
    return kilograms, Decision(
        subject="totals.kgco2e_per_month",
        choice=f"{kilograms:,.0f} kg",
        because=f"{facility_kw:,.1f} kW x {hours} h x {factor:g} gCO2e/kWh ({energy.alt_basis}, {energy.alt_year})",
        source=energy.source,
    )


def _shared_zone(pools: Sequence[PoolPlan]) -> str | None:
    found = {group.availability_zone for pool in pools for group in pool.node_groups}
    return found.pop() if len(found) == 1 else None
