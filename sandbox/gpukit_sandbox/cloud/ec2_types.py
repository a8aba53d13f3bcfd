"""DescribeInstanceTypes and DescribeInstanceTypeOfferings, with the types that moto's dump lacks and without offerings that are none."""

import fnmatch
from collections.abc import Iterator, Mapping
from typing import Any, Final

from moto.ec2.models.availability_zones_and_regions import RegionsAndZonesBackend, Zone

from gpukit.catalog import load_catalog
from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall

PAGE: Final = 100

_PATHS: Final = {
    "auto-recovery-supported": "AutoRecoverySupported",
    "bare-metal": "BareMetal",
    "burstable-performance-supported": "BurstablePerformanceSupported",
    "current-generation": "CurrentGeneration",
    "ebs-info.ebs-optimized-support": "EbsInfo.EbsOptimizedSupport",
    "ebs-info.encryption-support": "EbsInfo.EncryptionSupport",
    "ebs-info.nvme-support": "EbsInfo.NvmeSupport",
    "free-tier-eligible": "FreeTierEligible",
    "hypervisor": "Hypervisor",
    "instance-storage-info.nvme-support": "InstanceStorageInfo.NvmeSupport",
    "instance-storage-supported": "InstanceStorageSupported",
    "instance-type": "InstanceType",
    "memory-info.size-in-mib": "MemoryInfo.SizeInMiB",
    "network-info.efa-info.maximum-efa-interfaces": "NetworkInfo.EfaInfo.MaximumEfaInterfaces",
    "network-info.efa-supported": "NetworkInfo.EfaSupported",
    "network-info.ena-support": "NetworkInfo.EnaSupport",
    "network-info.maximum-network-cards": "NetworkInfo.MaximumNetworkCards",
    "network-info.maximum-network-interfaces": "NetworkInfo.MaximumNetworkInterfaces",
    "network-info.network-performance": "NetworkInfo.NetworkPerformance",
    "processor-info.supported-architecture": "ProcessorInfo.SupportedArchitectures",
    "supported-boot-mode": "SupportedBootModes",
    "supported-root-device-type": "SupportedRootDeviceTypes",
    "supported-usage-class": "SupportedUsageClasses",
    "supported-virtualization-type": "SupportedVirtualizationTypes",
    "vcpu-info.default-cores": "VCpuInfo.DefaultCores",
    "vcpu-info.default-threads-per-core": "VCpuInfo.DefaultThreadsPerCore",
    "vcpu-info.default-vcpus": "VCpuInfo.DefaultVCpus",
}


@action("ec2", "DescribeInstanceTypes")
def describe_instance_types(call: ApiCall) -> dict[str, Any]:
    """Return the types by name and filter, page by page. Raises InvalidInstanceType."""
    wanted = call.params.get("InstanceTypes")
    for each in wanted or ():
        if hardware.describe_type(each) is None:
            raise AwsError("InvalidInstanceType", f"The following supplied instance types do not exist: [{each}]")
    names = [name for name in wanted or hardware.all_types() if wanted or hardware.zones_offering(call.region, name)]
    found = [
        described
        for name in names
        if (described := hardware.describe_type(name)) is not None
        and _passes(described, call.params.get("Filters") or [])
    ]
    return _page(call, "InstanceTypes", found)


@action("ec2", "DescribeInstanceTypeOfferings")
def describe_instance_type_offerings(call: ApiCall) -> dict[str, Any]:
    """Return where types are offered: by region, zone or zone id."""
    kind = call.params.get("LocationType") or "region"
    zone_ids = {zone.name: zone.zone_id for zone in RegionsAndZonesBackend.zones.get(call.region, ())}
    filters = {each.get("Name"): each.get("Values") or [] for each in call.params.get("Filters") or []}
    unknown = set(filters) - {"instance-type", "location"}
    if unknown:
        raise AwsError("InvalidParameterValue", f"The filter '{min(str(each) for each in unknown)}' is invalid")
    found = []
    for name in hardware.all_types():
        if "instance-type" in filters and not any(fnmatch.fnmatchcase(name, each) for each in filters["instance-type"]):
            continue
        zones = sorted(hardware.zones_offering(call.region, name))
        places = {
            "region": [call.region] if zones else [],
            "availability-zone": zones,
            "availability-zone-id": [zone_ids.get(each, each) for each in zones],
        }
        for place in places.get(kind, []):
            if "location" not in filters or any(fnmatch.fnmatchcase(place, each) for each in filters["location"]):
                found.append({"InstanceType": name, "LocationType": kind, "Location": place})
    return _page(call, "InstanceTypeOfferings", found, default=1_000)


def use_the_catalogues_zones() -> None:
    """
    Give the zones the ids of gpukit's catalogue, and add its local zones.

    AWS shuffles names between accounts; a plan that goes by the catalogue has to find the same zone under the same name here.
    """
    catalog = load_catalog()
    regions = {each.name for each in catalog.regions()}
    for region, zones in RegionsAndZonesBackend.zones.items():
        known = {zone.name: zone for zone in catalog.zones(region)} if region in regions else {}
        for zone in zones:
            if zone.name in known:
                zone.zone_id = known[zone.name].id
        standing = {zone.name for zone in zones}
        zones += [Zone(each.name, region, each.id, each.kind) for each in known.values() if each.name not in standing]


def _passes(described: Mapping[str, Any], filters: list[Mapping[str, Any]]) -> bool:
    for each in filters:
        name = str(each.get("Name"))
        if name not in _PATHS:
            raise AwsError("InvalidParameterValue", f"The filter '{name}' is invalid")
        values = list(_values(described, _PATHS[name].split(".")))
        if not any(fnmatch.fnmatchcase(value, pattern) for value in values for pattern in each.get("Values") or []):
            return False
    return True


def _values(value: Any, path: list[str]) -> Iterator[str]:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    for each in value if isinstance(value, list) else [value]:
        if each is not None:
            yield str(each).lower() if isinstance(each, bool) else str(each)


def _page(call: ApiCall, name: str, found: list[Any], *, default: int = PAGE) -> dict[str, Any]:
    start, most = int(call.params.get("NextToken") or 0), int(call.params.get("MaxResults") or default)
    answer: dict[str, Any] = {name: found[start : start + most]}
    if start + most < len(found):
        answer["NextToken"] = str(start + most)
    return answer


use_the_catalogues_zones()
