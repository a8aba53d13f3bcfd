"""
Check that every name in a stack file stands for something, and take out what cannot be planned.

A stack file names instance types, images, cooling zones, stores, pools, regions and availability zones. A name that
leads nowhere is one finding with the nearest valid word; the spec that comes back lacks only what hung on it, so that
the rest is still planned and checked.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gpukit.catalog.fact import UnknownName
from gpukit.finding import Finding, Severity, sort_findings
from gpukit.nearest import nearest
from gpukit.spec.document import show_path
from gpukit.spec.model import changed

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.spec.model import CapacitySpec, ClusterSpec, PhaseSpec, PoolSpec, StorageSpec

_MAX_LISTED = 12


def check_references(spec: "ClusterSpec", catalog: "Catalog") -> "tuple[tuple[Finding, ...], ClusterSpec]":
    """
    Return the findings GK1007-GK1012, GK1014 and GK1016-GK1018, and the spec without what cannot be planned.

    A pool of an unknown instance type is taken out; an unknown image, cooling zone, store, region or availability zone
    is set back to "decide it for me". The spec that comes in is not changed.
    """
    names = _Names(catalog)
    found = _Found()
    region = _check_region(spec, names, found)
    pools = {}
    for name, pool in spec.pools.items():
        kept = _check_pool(name, pool, spec, region, names, found)
        if kept is not None:
            pools[name] = kept
    storage = {name: _check_store(name, store, spec, region, found) for name, store in spec.storage.items()}
    cooling_zones = {}
    for name, zone in spec.cooling_zones.items():
        path = show_path(("cooling_zones", name, "availability_zone"))
        bad = zone.availability_zone is not None and not _check_zone(zone.availability_zone, path, region, found)
        cooling_zones[name] = changed(zone, availability_zone=None) if bad else zone
    network = spec.network
    if network.availability_zones:
        kept_zones = _check_zones(network.availability_zones, ("network", "availability_zones"), region, found)
        if kept_zones != network.availability_zones:
            network = changed(network, availability_zones=kept_zones or None)
    if network.existing is not None:
        for zone_name in network.existing.subnets:
            _check_zone(zone_name, show_path(("network", "existing", "subnets", zone_name)), region, found)
    phases = _check_phases(spec, pools, found)
    if not found.findings:
        return (), spec
    pruned = changed(
        spec,
        region=region,
        pools=pools,
        storage=storage,
        cooling_zones=cooling_zones,
        network=network,
        phases=phases,
    )
    return sort_findings(found.findings), pruned


@dataclass(slots=True)
class _Found:
    findings: list[Finding] = field(default_factory=list)

    def error(self, code: str, path: str, problem: str, why: str, fix: str, source: str = "") -> None:
        self.findings.append(
            Finding(code=code, severity=Severity.ERROR, path=path, problem=problem, why=why, fix=fix, source=source)
        )


class _Names:
    """Names that the catalogue knows."""

    def __init__(self, catalog: "Catalog") -> None:
        self._catalog = catalog

    def miss_type(self, name: str, *, gpu: bool) -> UnknownName | None:
        """Return what is near an unknown instance type, or None where the type is known for the role."""
        missed = _miss(self._catalog.instance_type, name)
        if missed is None or gpu:
            return missed
        missed_helper = _miss(self._catalog.helper_type, name)
        if missed_helper is None:
            return None
        return UnknownName(missed.kind, name, missed.valid + missed_helper.valid)

    def is_helper_type(self, name: str) -> bool:
        """Tell whether a type is known, but has no GPU."""
        return _miss(self._catalog.helper_type, name) is None

    def miss_ultraserver(self, name: str) -> UnknownName | None:
        """Return what is near an unknown UltraServer, or None where it is known."""
        return _miss(self._catalog.ultraserver, name)

    def miss_region(self, name: str) -> UnknownName | None:
        """Return what is near an unknown region, or None where it is known."""
        return _miss(self._catalog.region, name)


def _miss(lookup: Callable[[str], object], name: str) -> UnknownName | None:
    try:
        lookup(name)
    except UnknownName as missed:
        return missed
    return None


def _check_region(spec: "ClusterSpec", names: _Names, found: _Found) -> str | None:
    missed = names.miss_region(spec.region) if spec.region is not None else None
    if missed is None:
        return spec.region
    found.error(
        "GK1011",
        "region",
        f"the region `{spec.region}` is not in the catalogue",
        "zones, prices, limits and offered instance types are looked up by region",
        _nearest_or_list(missed),
    )
    return None


def _check_pool(
    name: str, pool: "PoolSpec", spec: "ClusterSpec", region: str | None, names: _Names, found: _Found
) -> "PoolSpec | None":
    plannable = _check_types(name, pool, names, found)
    changes: dict[str, Any] = {}
    if pool.image is not None and pool.image not in spec.images:
        found.error(
            "GK1008",
            show_path(("pools", name, "image")),
            f"the image `{pool.image}` is not defined",
            _defined("images", spec.images),
            _did_you_mean(pool.image, spec.images, f"define it under `images.{pool.image}`"),
        )
        changes["image"] = None
    if pool.cooling_zone is not None and pool.cooling_zone not in spec.cooling_zones:
        found.error(
            "GK1009",
            show_path(("pools", name, "cooling_zone")),
            f"the cooling zone `{pool.cooling_zone}` is not defined",
            _defined("cooling_zones", spec.cooling_zones),
            _did_you_mean(
                pool.cooling_zone, spec.cooling_zones, f"define it under `cooling_zones.{pool.cooling_zone}`"
            ),
        )
        changes["cooling_zone"] = None
    if pool.zones:
        zones = _check_zones(pool.zones, ("pools", name, "zones"), region, found)
        if zones != pool.zones:
            changes["zones"] = zones or None
    capacity = [
        _check_source(name, index, source, single=len(pool.capacity) == 1, region=region, found=found)
        for index, source in enumerate(pool.capacity)
    ]
    if capacity != list(pool.capacity):
        changes["capacity"] = capacity
    if plannable is None:
        return None
    changes.update(plannable)
    return changed(pool, **changes) if changes else pool


def _check_types(name: str, pool: "PoolSpec", names: _Names, found: _Found) -> dict[str, Any] | None:
    """Return the changes to a pool's types, or None where no type is left to plan with."""
    missed = names.miss_ultraserver(pool.ultraserver) if pool.ultraserver is not None else None
    if missed is not None:
        found.error(
            "GK1016",
            show_path(("pools", name, "ultraserver")),
            f"the UltraServer `{missed.name[:80]}` is not in the catalogue",
            "its instance type, its rack size and its power are looked up by its name",
            _nearest_or_list(missed),
        )
        return None
    stated = ([pool.instance_type] if pool.instance_type is not None else []) + list(pool.instance_types)
    if not stated and pool.ultraserver is None:
        if pool.role != "gpu":
            return {}
        found.error(
            "GK1017",
            show_path(("pools", name)),
            f"the GPU pool `{name}` names no instance type",
            "network interfaces, storage, power and price all follow from the instance type",
            f"add `instance_type:` under `pools.{name}`, such as `p5en.48xlarge`; `gpukit recommend` helps to choose",
        )
        return None
    changes: dict[str, Any] = {}
    usable = True
    gpu = pool.role == "gpu"
    if pool.instance_type is not None:
        usable = _check_type(pool.instance_type, show_path(("pools", name, "instance_type")), gpu, names, found)
    kept = [
        type_name
        for index, type_name in enumerate(pool.instance_types)
        if _check_type(type_name, show_path(("pools", name, "instance_types", index)), gpu, names, found)
    ]
    if kept != list(pool.instance_types):
        changes["instance_types"] = kept
    if not usable and kept:
        changes["instance_type"] = None
        usable = True
    if not usable or (stated and not kept and pool.instance_type is None):
        return None
    return changes


def _check_type(type_name: str, path: str, gpu: bool, names: _Names, found: _Found) -> bool:
    missed = names.miss_type(type_name, gpu=gpu)
    if missed is None:
        return True
    if gpu and names.is_helper_type(type_name):
        found.error(
            "GK1018",
            path,
            f"the pool is for GPUs (`role: gpu`), and `{type_name}` has none",
            "what a GPU pool gets (drivers, device plug-ins, queues, taints) needs a GPU on each node",
            "name a type with GPUs, or set `role:` to system, login, database or cpu",
        )
        return False
    found.error(
        "GK1007",
        path,
        f"the instance type `{type_name[:80]}` is not in the catalogue",
        "network interfaces, power, price and limits of a pool come from the catalogue's row of its type",
        _nearest_or_list(missed) if missed.near else "see `gpukit catalog` for the types that are known",
    )
    return False


def _check_source(
    pool: str, index: int, source: "CapacitySpec", *, single: bool, region: str | None, found: _Found
) -> "CapacitySpec":
    where = ("pools", pool, "capacity") if single else ("pools", pool, "capacity", index)
    reservations = []
    for number, reservation in enumerate(source.reservations):
        zone = reservation.availability_zone
        path = show_path((*where, "reservations", number, "availability_zone"))
        if zone is not None and not _check_zone(zone, path, region, found):
            reservation = changed(reservation, availability_zone=None)
        reservations.append(reservation)
    if reservations != list(source.reservations):
        return changed(source, reservations=reservations)
    return source


def _check_store(
    name: str, store: "StorageSpec", spec: "ClusterSpec", region: str | None, found: _Found
) -> "StorageSpec":
    buckets = [other for other, item in spec.storage.items() if item.kind == "s3"]
    changes: dict[str, Any] = {}
    wanted = store.data_repository
    if wanted is not None and wanted not in buckets:
        known = spec.storage.get(wanted)
        found.error(
            "GK1010",
            show_path(("storage", name, "data_repository")),
            f"the store `{wanted[:80]}` is not defined"
            if known is None
            else f"the store `{wanted}` is of kind {known.kind.value}, not s3",
            f"a Lustre file system imports from and exports to a bucket; {_defined('s3 stores', buckets)}",
            _did_you_mean(wanted, buckets, f"define `storage.{wanted[:80]}` with `kind: s3`"),
        )
        changes["data_repository"] = None
    if store.availability_zone is not None and not _check_zone(
        store.availability_zone, show_path(("storage", name, "availability_zone")), region, found
    ):
        changes["availability_zone"] = None
    return changed(store, **changes) if changes else store


def _check_phases(spec: "ClusterSpec", pools: "dict[str, PoolSpec]", found: _Found) -> "dict[str, PhaseSpec]":
    phases = {}
    for name, phase in spec.phases.items():
        for index, pool in enumerate(phase.pools):
            if pool not in spec.pools:
                found.error(
                    "GK1014",
                    show_path(("phases", name, "pools", index)),
                    f"the pool `{pool[:80]}` is not defined",
                    _defined("pools", spec.pools),
                    _did_you_mean(pool, spec.pools, f"define it under `pools.{pool[:80]}`"),
                )
        kept = [pool for pool in phase.pools if pool in pools]
        if kept:
            phases[name] = phase if kept == list(phase.pools) else changed(phase, pools=kept)
    return phases


def _check_zones(zones: list[str], path: tuple[str, ...], region: str | None, found: _Found) -> list[str]:
    return [zone for index, zone in enumerate(zones) if _check_zone(zone, show_path((*path, index)), region, found)]


def _check_zone(zone: str, path: str, region: str | None, found: _Found) -> bool:
    """Tell whether a zone fits the region: us-east-1a, a Local Zone us-east-1-dfw-2a, or a zone id use1-az4."""
    if region is None or zone_is_in_region(zone, region):
        return True
    found.error(
        "GK1012",
        path,
        f"the availability zone `{zone[:80]}` is not in the region `{region}`",
        f"zones of `{region}` are named `{region}a`, ... or, by zone id, `{zone_id_prefix(region)}-az1`, ...",
        f"name a zone of `{region}`, or change the region",
    )
    return False


def zone_is_in_region(zone: str, region: str) -> bool:
    """Tell whether a zone belongs to a region, judged by the way AWS names them; the zone need not exist."""
    if zone.startswith(region):
        rest = zone[len(region) :]
        return (len(rest) == 1 and rest.islower()) or (rest.startswith("-") and rest[-1:].islower())
    return re.fullmatch(zone_id_prefix(region) + r"(-[a-z]+[0-9]+)?-az[0-9]+", zone, re.ASCII) is not None


_DIRECTIONS = {
    "north": "n",
    "south": "s",
    "east": "e",
    "west": "w",
    "central": "c",
    "northeast": "ne",
    "northwest": "nw",
    "southeast": "se",
    "southwest": "sw",
}


def zone_id_prefix(region: str) -> str:
    """
    Return the start of a region's zone ids.

    `us-east-1` -> `use1`, `ap-southeast-2` -> `apse2`, `us-gov-west-1` -> `usgw1`.

    Source: EC2 User Guide, "Availability Zone IDs". Directions shrink to their letters, `gov` to `g`.
    """
    *words, number = region.split("-")
    return "".join(_DIRECTIONS.get(word, "g" if word == "gov" else word) for word in words) + number


def _defined(what: str, names: Iterable[str]) -> str:
    listed = sorted(names)
    return f"{what} defined here: {_listed(listed)}" if listed else f"no {what} are defined here"


def _nearest_or_list(missed: UnknownName) -> str:
    if missed.near:
        return "did you mean " + " or ".join(f"`{name}`" for name in missed.near) + "?"
    return f"use one of: {_listed(missed.valid)}"


def _listed(names: Iterable[str]) -> str:
    listed = list(names)
    more = f" and {len(listed) - _MAX_LISTED} more" if len(listed) > _MAX_LISTED else ""
    return ", ".join(listed[:_MAX_LISTED]) + more


def _did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    near = nearest(name, names)
    return f"did you mean `{near[0]}`?" if near else otherwise
