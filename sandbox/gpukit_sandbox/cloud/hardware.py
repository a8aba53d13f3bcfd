"""What EC2 knows of instance types: moto's dump of DescribeInstanceTypes, and from gpukit's catalogue the types that only UltraServers have."""

import csv
import re
from functools import cache
from pathlib import Path
from typing import Any, Final

from moto.core.utils import get_service_model
from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES

from gpukit.catalog import load_catalog


def describe_type(name: str) -> dict[str, Any] | None:
    """Return what DescribeInstanceTypes says of a type; None when EC2 has no such type."""
    return INSTANCE_TYPES.get(name) or _ultraserver_types().get(name) or _modelled_type(name)


def all_types() -> tuple[str, ...]:
    """Return the names of every type that DescribeInstanceTypes lists, sorted."""
    return tuple(sorted({*INSTANCE_TYPES, *_ultraserver_types(), *_STILL_SOLD}))


def vcpus(name: str) -> int:
    """Return a type's virtual processors."""
    found = describe_type(name)
    return int(found["VCpuInfo"]["DefaultVCpus"]) if found else 0


def architectures(name: str) -> tuple[str, ...]:
    """Return the processor architectures of a type."""
    found = describe_type(name)
    return tuple(found["ProcessorInfo"]["SupportedArchitectures"]) if found else ()


@cache
def zones_offering(region: str, name: str) -> frozenset[str]:
    """Return the names of a region's zones that offer a type, as DescribeInstanceTypeOfferings does."""
    rows = INSTANCE_TYPE_OFFERINGS["availability-zone"].get(region, ())
    found = {row["Location"] for row in rows if row["InstanceType"] == name}
    if name in _ultraserver_types():
        found |= set(load_catalog().zones_offering(name, region))
    if name in _STILL_SOLD:
        # The dump lacks these; they are offered where their nearest relative is.
        found |= zones_offering(region, _STILL_SOLD[name])
    return frozenset(
        zone for zone in found if not any(name.startswith(prefix) and zone == gone for prefix, gone in _withdrawn())
    )


@cache
def _withdrawn() -> tuple[tuple[str, str], ...]:
    with (Path(__file__).parent / "data" / "withdrawn_offerings.csv").open(encoding="utf-8", newline="") as source:
        return tuple((row["instance_type_prefix"], row["zone"]) for row in csv.DictReader(source))


_STILL_SOLD: Final = {
    f"g4ad.{size}": f"g4dn.{size}" for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "16xlarge")
}
"""Types that EC2 sells and moto's dump lacks -> the type whose zones they share. Source: EC2 user guide, accelerated computing instances."""


@cache
def _modelled_type(name: str) -> dict[str, Any] | None:
    """Return what can be said of a type that the API's model names and the dump lacks: processors by the size, architecture by the family."""
    if name not in get_service_model("ec2").shape_for("InstanceType").enum:
        return None
    family, _, size = name.partition(".")
    match = re.fullmatch(r"(\d*)xlarge", size)
    processors = {"nano": 2, "micro": 2, "small": 1, "medium": 1, "large": 2}.get(
        size, 4 * int(match.group(1) or 1) if match else 96
    )
    arm = re.fullmatch(r"(a1|t4g|g5g|[a-z]+\d+g[a-z]*|im4gn|is4gen)", family) is not None
    usage = ["on-demand", "spot"]
    return {
        "InstanceType": name,
        "CurrentGeneration": name in _STILL_SOLD,
        "SupportedUsageClasses": usage,
        "BurstablePerformanceSupported": family.startswith("t"),
        "VCpuInfo": {"DefaultVCpus": processors},
        "ProcessorInfo": {"SupportedArchitectures": ["arm64" if arm else "x86_64"]},
        "PlacementGroupInfo": {"SupportedStrategies": ["cluster", "partition", "spread"]},
        "NetworkInfo": {
            "MaximumNetworkInterfaces": 4,
            "MaximumNetworkCards": 1,
            "DefaultNetworkCardIndex": 0,
            "NetworkCards": [{"NetworkCardIndex": 0, "MaximumNetworkInterfaces": 4, "InterfaceTypes": ["interface"]}],
            "Ipv4AddressesPerInterface": 10,
            "EfaSupported": False,
        },
        **(
            {
                "GpuInfo": {
                    "Gpus": [
                        {
                            "Name": "Radeon Pro V520",
                            "Manufacturer": "AMD",
                            "Count": 1,
                            "MemoryInfo": {"SizeInMiB": 8192},
                        }
                    ]
                }
            }
            if family == "g4ad"
            else {}
        ),
    }


@cache
def _ultraserver_types() -> dict[str, dict[str, Any]]:
    found = {}
    catalog = load_catalog()
    for each in catalog.instance_types():
        if each.name in INSTANCE_TYPES or not each.name.startswith("p6e-"):
            continue
        cards = [
            {
                "NetworkCardIndex": card.index,
                "MaximumNetworkInterfaces": card.max_enis or 0,
                "InterfaceTypes": sorted(card.interface_types, reverse=True),
            }
            for card in catalog.network_cards(each.name)
        ]
        found[each.name] = {
            "InstanceType": each.name,
            "CurrentGeneration": True,
            "VCpuInfo": {"DefaultVCpus": each.vcpu or 0},
            "MemoryInfo": {"SizeInMiB": int((each.memory_gib or 0) * 1024)},
            "ProcessorInfo": {"SupportedArchitectures": [each.architecture]},
            "SupportedUsageClasses": ["capacity-block"],
            "PlacementGroupInfo": {"SupportedStrategies": []},
            "BurstablePerformanceSupported": False,
            "NetworkInfo": {
                "NetworkCards": cards,
                "MaximumNetworkCards": len(cards),
                "DefaultNetworkCardIndex": 0,
                "MaximumNetworkInterfaces": sum(card["MaximumNetworkInterfaces"] for card in cards),
                "EfaSupported": True,
                "EfaInfo": {"MaximumEfaInterfaces": each.max_efa_interfaces or 0},
                "Ipv4AddressesPerInterface": each.ipv4_per_eni or 50,
            },
        }
    return found
