"""
Rebuild the generated tables of the catalogue: `make catalog`.

Regions, zones, offerings and helper types come from the dumps of the AWS API that moto ships; node power from the
catalogue's own power rules. Hand-written tables (`added_*.csv` and all others) are read, never written.
"""

import argparse
import csv
import gzip
import importlib.metadata
import io
import json
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

from gpukit.catalog import DATA, Catalog
from gpukit.catalog.hardware import HelperType, NodePower
from gpukit.catalog.places import Offering, Region, Zone
from gpukit.catalog.power import choose_power_rule, estimate_node_power

AS_OF = "2026-12-01"
"""Day on which the dumps were read. Change it together with the version of moto."""

PARTITIONS = ("aws",)
"""Partitions whose regions are listed; offerings are known for these alone."""


def main() -> int:
    """Write the generated tables, or with --check say which are out of date (exit code 1)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a table would change")
    check = parser.parse_args().check
    stale = []
    for name, text in make_tables().items():
        path = DATA / f"{name}.csv"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not check:
            path.write_text(text, encoding="utf-8")
    print(f"{'out of date' if check else 'rewritten'}: {', '.join(stale) or 'none'}", file=sys.stderr)
    return 1 if check and stale else 0


def make_tables() -> dict[str, str]:
    """Return the text of each generated table by its name."""
    source = f"moto-{importlib.metadata.version('moto')}"
    catalog = Catalog()
    zones = make_zones(source)
    helpers = tuple(price.id.removeprefix("ec2/") for price in catalog.prices() if price.id.startswith("ec2/"))
    types = tuple(row.name for row in catalog.instance_types()) + helpers
    return {
        "regions": render(Region, make_regions(source)),
        "zones": render(Zone, zones),
        "instance_offerings": render(Offering, make_offerings(types, zones, source)),
        "helper_types": render(HelperType, make_helper_types(helpers, source)),
        "node_power": render(NodePower, make_node_power(catalog)),
    }


def make_regions(source: str) -> list[dict[str, Any]]:
    """Return the regions of botocore's endpoint list, with what moto knows about opting in."""
    from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

    open_to_all = set(RegionsAndZonesBackend.regions_opt_in_not_required)
    dumped = set(_dumped_regions())
    version = importlib.metadata.version("botocore")
    rows = []
    for partition in _botocore_endpoints()["partitions"]:
        if partition["partition"] not in PARTITIONS:
            continue
        for name, told in sorted(partition["regions"].items()):
            rows.append(
                {
                    "name": name,
                    "title": told["description"],
                    "partition": partition["partition"],
                    "opt_in": "no" if name in open_to_all else "yes",
                    "source": f"botocore-{version};{source}",
                    "as_of": AS_OF,
                    "doubts": "" if name in dumped else "no dump of its offerings: what is sold there is unknown",
                }
            )
    return rows


def make_zones(source: str) -> list[dict[str, Any]]:
    """
    Return the zones by region, each name with its id, and the zones added by hand.

    The dumps list offers by name and by id apart. A name and an id that offer the very same types belong together;
    where two ids offer the same, the order of moto's own zones decides.
    """
    from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend

    rows = []
    for region in _dumped_regions():
        by_name = _offers(region, "availability-zone")
        by_id = _offers(region, "availability-zone-id")
        known = {zone.name: zone.zone_id for zone in RegionsAndZonesBackend.zones.get(region, [])}
        for name, types in sorted(by_name.items()):
            candidates = sorted(id_ for id_, offered in by_id.items() if offered == types)
            if not candidates:
                raise SystemExit(f"{region}: no zone id offers what {name} offers; the dumps do not belong together")
            chosen = known[name] if known.get(name) in candidates and len(candidates) > 1 else candidates[0]
            shuffled = known.get(name) not in (None, chosen)
            rows.append(
                {
                    "region": region,
                    "name": name,
                    "id": chosen,
                    "kind": "availability-zone",
                    "source": source,
                    "as_of": AS_OF,
                    "doubts": "names are shuffled between accounts: go by the id" if shuffled else "",
                }
            )
    return sorted(rows + _by_hand("added_zones"), key=lambda row: (row["region"], row["kind"], row["name"]))


def make_offerings(types: Iterable[str], zones: list[dict[str, Any]], source: str) -> list[dict[str, Any]]:
    """Return for each type and region the ids of the zones that offer it, and the offerings added by hand."""
    ids = {zone["name"]: zone["id"] for zone in zones}
    wanted = list(types)
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for region in _dumped_regions():
        by_name = _offers(region, "availability-zone")
        sold = {entry["InstanceType"] for entry in _dump("region", region)}
        for name in wanted:
            if name in sold:
                zone_ids = sorted(ids[zone] for zone, offered in by_name.items() if name in offered)
                doubts = "" if zone_ids else "offered in the region, zones unknown"
                rows[name, region] = _offering(name, region, zone_ids, source, doubts)
    for row in _by_hand("added_offerings"):
        rows[row["instance_type"], row["region"]] = row
    order = {name: position for position, name in enumerate(wanted)}
    return sorted(rows.values(), key=lambda row: (order[row["instance_type"]], row["region"]))


def make_helper_types(names: Iterable[str], source: str) -> list[dict[str, Any]]:
    """Return the types without GPUs that have a price row."""
    with gzip.open(_resources() / "instance_types.json.gz") as file:
        dump = json.load(file)
    rows = []
    for name in names:
        told = dump[name]
        network = told["NetworkInfo"]
        card = network["NetworkCards"][0]
        addresses = network["Ipv4AddressesPerInterface"]
        ebs = told["EbsInfo"].get("EbsOptimizedInfo", {})
        rows.append(
            {
                "name": name,
                "family": name.split(".")[0],
                "vcpu": told["VCpuInfo"]["DefaultVCpus"],
                "memory_gib": _short(told["MemoryInfo"]["SizeInMiB"] / 1024),
                "architecture": told["ProcessorInfo"]["SupportedArchitectures"][0],
                "network_gbps": _short(card["PeakBandwidthInGbps"]),
                "max_enis": network["MaximumNetworkInterfaces"],
                "ipv4_per_eni": addresses,
                "max_pods": card["MaximumNetworkInterfaces"] * (addresses - 1) + 2,
                "ebs_mbps_max": ebs.get("MaximumBandwidthInMbps", ""),
                "source": source,
                "as_of": AS_OF,
                "doubts": "",
            }
        )
    return sorted(rows, key=lambda row: (str(row["family"]), int(row["vcpu"])))


def make_node_power(catalog: Catalog) -> list[dict[str, Any]]:
    """Return the power of each GPU instance type for which the rules give one."""
    rows = []
    for instance in catalog.instance_types():
        rule = choose_power_rule(instance.name, catalog.power_rules())
        if rule is None:
            continue
        gpu = catalog.gpu_model(instance.gpu_model)
        row = estimate_node_power(instance, gpu, rule, catalog.server_power())
        if row is not None:
            rows.append({field.name: getattr(row, field.name) for field in fields(row)})
    return rows


def render(row_type: type[Any], rows: Iterable[dict[str, Any]]) -> str:
    """Return a table as CSV text under a line that names this script."""
    out = io.StringIO()
    out.write("# Made by scripts/make_catalog.py (make catalog): change its inputs, not this file.\n")
    writer = csv.DictWriter(out, [field.name for field in fields(row_type)], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _offering(name: str, region: str, zone_ids: list[str], source: str, doubts: str) -> dict[str, Any]:
    return {
        "instance_type": name,
        "region": region,
        "zone_ids": "|".join(zone_ids),
        "source": source,
        "as_of": AS_OF,
        "doubts": doubts,
    }


def _by_hand(table: str) -> list[dict[str, Any]]:
    with (DATA / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _resources() -> Path:
    import moto.ec2

    return Path(moto.ec2.__file__).parent / "resources"


def _dumped_regions() -> list[str]:
    return sorted(path.name.removesuffix(".json.gz") for path in _offers_folder("region").glob("*.json.gz"))


def _offers_folder(kind: str) -> Path:
    return _resources() / "instance_type_offerings" / kind


def _dump(kind: str, region: str) -> list[dict[str, str]]:
    with gzip.open(_offers_folder(kind) / f"{region}.json.gz") as file:
        entries: list[dict[str, str]] = json.load(file)
    return entries


def _offers(region: str, kind: str) -> dict[str, set[str]]:
    offers: dict[str, set[str]] = {}
    for entry in _dump(kind, region):
        offers.setdefault(entry["Location"], set()).add(entry["InstanceType"])
    return offers


def _botocore_endpoints() -> dict[str, Any]:
    import botocore

    path = Path(botocore.__file__).parent / "data" / "endpoints.json"
    endpoints: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return endpoints


def _short(value: float) -> str:
    return f"{value:g}"


if __name__ == "__main__":
    raise SystemExit(main())
