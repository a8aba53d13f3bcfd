"""Choose availability zones: one for a pool that needs a shared fabric, several for everything else."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpukit.plan import Decision

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.spec.model import PoolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneChoice:
    """Zones by name, and why."""

    zones: tuple[str, ...]
    decision: Decision


def zone_names(given: list[str] | None, region: str, catalog: "Catalog") -> tuple[str, ...]:
    """Return zone names for names or zone ids; what is not known stays as it is, for the checks to report."""
    by_id = {zone.id: zone.name for zone in catalog.zones(region)}
    return tuple(by_id.get(zone, zone) for zone in given or ())


def choose_pool_zones(
    name: str,
    pool: "PoolSpec",
    *,
    instance_type: str,
    fabric: bool,
    several: bool,
    region: str,
    preferred: tuple[str, ...],
    catalog: "Catalog",
) -> ZoneChoice:
    """
    Return the zones of a GPU pool.

    A reservation's zone wins, then the pool's own, then the first zone (the network's before others) that offers the
    type. A pool with a `fabric` (EFA or a cluster placement group) gets exactly one; a pool that lives on spare
    capacity gets `several` unasked, every other pool one, next to its storage.
    """
    reserved = [
        zone
        for source in pool.capacity
        for zone in zone_names(
            [r.availability_zone for r in source.reservations if r.availability_zone], region, catalog
        )
    ]
    offering = tuple(catalog.zones_offering(instance_type, region))
    if reserved:
        zones, because = tuple(dict.fromkeys(reserved)), "the reservation lives there"
    elif pool.zones:
        zones, because = zone_names(pool.zones, region, catalog), "the stack file says so"
        if fabric and len(zones) > 1:
            # EFA traffic does not leave a zone; a check tells the user that the others are not used
            zones, because = zones[:1], "the first of the stated zones: nodes that share a fabric stay in one zone"
    else:
        found = tuple(zone for zone in preferred if zone in offering) or offering or preferred
        several = several and not fabric
        zones = found if several else found[:1]
        because = f"the first zone of {region} that offers {instance_type}"
        if several:
            because = f"all zones of {region} that offer {instance_type}: spare capacity is found where it is"
        if not offering:
            because = f"no zone of {region} is known to offer {instance_type}"
    if not zones:
        zones, because = (f"{region}a",), f"no zone is known to offer {instance_type}; the region's first stands in"
    told = Decision(
        subject=f"pools.{name}.availability_zone", choice=", ".join(zones), because=because, source=_offered(offering)
    )
    return ZoneChoice(zones=zones, decision=told)


def choose_helper_zones(
    name: str, pool: "PoolSpec", *, region: str, control_zones: tuple[str, ...], catalog: "Catalog"
) -> ZoneChoice:
    """Return the zones of a pool without GPUs: its own, else those of the control plane."""
    zones = zone_names(pool.zones, region, catalog) or control_zones
    because = "the stack file says so" if pool.zones else "the zones of the control plane, so that one may fail"
    told = Decision(subject=f"pools.{name}.availability_zone", choice=", ".join(zones), because=because)
    return ZoneChoice(zones=zones, decision=told)


def choose_control_plane_zones(
    region: str, *, wanted: tuple[str, ...], gpu_zones: tuple[str, ...], catalog: "Catalog"
) -> tuple[str, ...]:
    """Return two ordinary zones for the control plane and the system nodes; the user's and the GPUs' come first."""
    ordinary = [zone.name for zone in catalog.zones(region) if zone.kind == "availability-zone"]
    candidates = [zone for zone in (*wanted, *gpu_zones, *ordinary) if zone in ordinary]
    chosen = tuple(dict.fromkeys(candidates))[:2]
    return chosen if len(chosen) == 2 else (f"{region}a", f"{region}b")


def _offered(offering: tuple[str, ...]) -> str:
    return f"offered in {', '.join(offering)}" if offering else ""
