"""What EC2 knows of instance types: moto's dump of DescribeInstanceTypes, and from gpukit's catalogue the types that only UltraServers have."""

from functools import cache
from typing import Any

from moto.ec2.models.instance_types import INSTANCE_TYPE_OFFERINGS, INSTANCE_TYPES

from gpukit.catalog import load_catalog


def describe_type(name: str) -> dict[str, Any] | None:
    """Return what DescribeInstanceTypes says of a type; None when EC2 has no such type."""
    found = INSTANCE_TYPES.get(name) or _ultraserver_types().get(name)
    return found


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
    return frozenset(found)


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
