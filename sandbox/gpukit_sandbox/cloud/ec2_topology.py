"""
Where instances lie in the network: DescribeInstanceTopology.

Instances of one Capacity Block or reservation, and of one placement group, are neighbours, as AWS places them; the rest of a zone is spread. How many
instances share a leaf is not published: eight here, and four leaves to a spine, so that a thousand GPUs span several of each.
"""

import hashlib
from typing import Any, Final

from gpukit_sandbox.cloud.ec2_launches import live_instances
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action
from gpukit_sandbox.cloud.requests import ApiCall

LEAF_INSTANCES: Final = 8
SPINE_LEAVES: Final = 4
MAX_RESULTS: Final = 100
MAX_IDS: Final = 100
WITH_TOPOLOGY: Final = ("p", "trn", "hpc", "g6e", "g6.", "gr6", "g7")
"""Families that report a topology. Source: EC2 User Guide, "Prerequisites for Amazon EC2 instance topology", 2026-08."""
FOUR_LAYERS: Final = ("p6",)
"""Families with a fourth network node. Source: kubernetes/cloud-provider-aws, topology labels; Capacity Block guide, 2026-08."""


@action("ec2", "DescribeInstanceTopology")
def describe_instance_topology(call: ApiCall) -> dict[str, Any]:
    """Return the network nodes above each instance, from the top layer down, page by page."""
    wanted, groups = call.params.get("InstanceIds") or [], call.params.get("GroupNames") or []
    if len(wanted) > MAX_IDS or len(groups) > MAX_IDS:
        raise AwsError("InvalidParameterValue", f"At most {MAX_IDS} instance IDs or group names may be specified.")
    if wanted and call.params.get("MaxResults"):
        raise AwsError("InvalidParameterCombination", "The parameter MaxResults cannot be used with instance IDs.")
    instances = {each.id: each for each in live_instances(call.region) if each.state == "running"}
    for each in wanted:
        if each not in instances:
            raise AwsError("InvalidInstanceID.NotFound", f"The instance ID '{each}' does not exist")
    places = _place(list(instances.values()))
    found = [
        _shown(instance, places[instance.id])
        for instance in instances.values()
        if instance.instance_type.startswith(WITH_TOPOLOGY)
        and (not wanted or instance.id in wanted)
        and (not groups or _placement_group(instance) in groups)
        and _passes(instance, call.params.get("Filters") or [])
    ]
    start = int(call.params.get("NextToken") or 0)
    end = start + min(int(call.params.get("MaxResults") or MAX_RESULTS), MAX_RESULTS)
    return {"Instances": found[start:end], **({"NextToken": str(end)} if end < len(found) else {})}


def _place(instances: list[Any]) -> dict[str, int]:
    """Return each instance's number among its neighbours; it stays the same while they come and go, as it is kept with the instance."""
    taken: dict[tuple[str, ...], set[int]] = {}
    for instance in instances:
        kept = getattr(instance, "_gpukit_place", None)
        if kept is not None:
            taken.setdefault(_neighbourhood(instance), set()).add(kept)
    for instance in instances:
        if getattr(instance, "_gpukit_place", None) is None:
            numbers = taken.setdefault(_neighbourhood(instance), set())
            number = next(number for number in range(len(numbers) + 1) if number not in numbers)
            numbers.add(number)
            instance._gpukit_place = number
    return {instance.id: instance._gpukit_place for instance in instances}


def _neighbourhood(instance: Any) -> tuple[str, ...]:
    together = str(getattr(instance, "capacity_reservation_id", None) or _placement_group(instance) or "")
    return (str(instance.availability_zone), str(instance.instance_type), together)


def _placement_group(instance: Any) -> str:
    return str(
        getattr(instance, "placement_group", None)
        or (getattr(instance, "placement", None) and getattr(instance.placement, "group_name", ""))
        or ""
    )


def _shown(instance: Any, number: int) -> dict[str, Any]:
    neighbourhood = _neighbourhood(instance)
    leaf = number // LEAF_INSTANCES
    layers = [
        _node("zone", instance.availability_zone),
        _node("spine", *neighbourhood, str(leaf // SPINE_LEAVES)),
        _node("leaf", *neighbourhood, str(leaf)),
    ]
    if instance.instance_type.startswith(FOUR_LAYERS):
        layers.insert(1, _node("hall", *neighbourhood))
    group = _placement_group(instance)
    return {
        "InstanceId": instance.id,
        "InstanceType": instance.instance_type,
        "NetworkNodes": layers,
        "AvailabilityZone": instance.availability_zone,
        "ZoneId": getattr(instance.placement, "zone_id", None) if hasattr(instance, "placement") else None,
        **({"GroupName": group} if group else {}),
        **(
            {"CapacityBlockId": instance.capacity_reservation_id}
            if getattr(instance, "capacity_reservation_id", None)
            else {}
        ),
    }


def _node(*words: str) -> str:
    return f"nn-{hashlib.sha256('/'.join(words).encode()).hexdigest()[:17]}"


def _passes(instance: Any, filters: list[dict[str, Any]]) -> bool:
    known = {"availability-zone": instance.availability_zone, "instance-type": instance.instance_type}
    for each in filters:
        if each.get("Name") not in (*known, "zone-id"):
            raise AwsError("InvalidParameterValue", f"The filter '{each.get('Name')}' is invalid")
        value = known.get(each["Name"])
        if value is not None and not any(_matches(value, wanted) for wanted in each.get("Values") or []):
            return False
    return True


def _matches(value: str, wanted: str) -> bool:
    return value == wanted or (wanted.endswith("*") and value.startswith(wanted[:-1]))
