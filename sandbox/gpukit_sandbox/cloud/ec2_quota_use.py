"""Which vCPU quota an instance counts against, and how much of it is used."""

from typing import Final

from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.quotas import quota_by_code
from gpukit_sandbox.cloud.state import World

_ON_DEMAND: Final = {
    "p": "L-417A185B",
    "g": "L-DB2E81BA",
    "vt": "L-DB2E81BA",
    "gr": "L-DB2E81BA",
    "trn": "L-2C3B7624",
    "inf": "L-1945791B",
    "dl": "L-6E869C2A",
    "f": "L-74FC7D96",
    "x": "L-7295265B",
    "u": "L-43DA4232",
    "hpc": "L-F7808C92",
}
_STANDARD_ON_DEMAND: Final = "L-1216C47A"
_SPOT: Final = {
    "p": "L-7212CCBC",
    "p5": "L-C4BD4855",
    "g": "L-3819A6DF",
    "vt": "L-3819A6DF",
    "gr": "L-3819A6DF",
    "trn": "L-6B0D517C",
}
_STANDARD_SPOT: Final = "L-34B43A08"
"""Source: EC2 User Guide, On-Demand Instance quotas and Spot Instance quotas; facts `limits.csv`, area ec2-quota."""


def quota_code(instance_type: str, *, spot: bool) -> str:
    """Return the code of the vCPU quota that a type counts against."""
    family = instance_type.split(".", 1)[0]
    letters = ""
    for character in family:
        if not character.isalpha() and character != "-":
            break
        letters += character
    letters = letters.rstrip("-")
    if spot:
        if family.startswith(("p5", "p6")):
            return _SPOT["p5"]
        return _SPOT.get(letters, _STANDARD_SPOT)
    return _ON_DEMAND.get(letters, _STANDARD_ON_DEMAND)


def vcpus_in_use(world: World, region: str, code: str, *, spot: bool) -> int:
    """
    Return the vCPUs that count against a quota: running instances, and reservations whether used or not.

    Capacity Blocks and the instances in them do not count. Source: EC2 User Guide, Capacity Blocks, "Considerations".
    """
    from gpukit_sandbox.cloud.ec2_capacity import KIND, age
    from gpukit_sandbox.cloud.ec2_launches import live_instances

    used = 0
    for each in live_instances(region):
        if each.state in ("stopped", "stopping") or getattr(each, "capacity_reservation_id", None):
            continue
        if (each.lifecycle == "spot") is spot and quota_code(each.instance_type, spot=spot) == code:
            used += hardware.vcpus(each.instance_type)
    if not spot:
        for record in world.table(region, KIND).values():
            age(world, record)
            if (
                record["State"] == "active"
                and record["ReservationType"] == "default"
                and quota_code(record["InstanceType"], spot=False) == code
            ):
                used += hardware.vcpus(record["InstanceType"]) * int(record["TotalInstanceCount"])
    return used


def require_vcpus(
    world: World, region: str, instance_type: str, count: int, *, spot: bool, code: str | None = None
) -> None:
    """Raise VcpuLimitExceeded (Spot: MaxSpotInstanceCountExceeded) when that many more do not fit into the quota."""
    quota = quota_code(instance_type, spot=spot)
    limit = quota_by_code(world, region, quota)
    wanted = hardware.vcpus(instance_type) * count
    used = vcpus_in_use(world, region, quota, spot=spot)
    if used + wanted <= limit:
        return
    if spot:
        raise AwsError("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
    raise AwsError(
        code or "VcpuLimitExceeded",
        f"You have requested more vCPU capacity than your current vCPU limit of {limit:.0f} allows for the instance bucket that the specified instance "
        f"type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit. ({quota}: {used} used, {wanted} more)",
    )
