"""EBS volumes of a launch or on their own: sizes, IOPS and throughput that each volume type takes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import World

VOLUME_SOURCE: Final = "EC2 API reference, EbsBlockDevice and CreateVolume; botocore ec2 model; facts storage.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumeType:
    """What one volume type takes."""

    size_gib: tuple[int, int]
    iops: tuple[int, int] | None = None
    iops_per_gib: int | None = None
    iops_needed: bool = False
    throughput_mib_s: tuple[int, int] | None = None


VOLUME_TYPES: Final = {
    "gp3": VolumeType(size_gib=(1, 65_536), iops=(3_000, 80_000), iops_per_gib=500, throughput_mib_s=(125, 2_000)),
    "gp2": VolumeType(size_gib=(1, 16_384)),
    "io1": VolumeType(size_gib=(4, 16_384), iops=(100, 64_000), iops_per_gib=50, iops_needed=True),
    "io2": VolumeType(size_gib=(4, 65_536), iops=(100, 256_000), iops_per_gib=1_000, iops_needed=True),
    "st1": VolumeType(size_gib=(125, 16_384)),
    "sc1": VolumeType(size_gib=(125, 16_384)),
    "standard": VolumeType(size_gib=(1, 1_024)),
}
GP3_MIB_S_PER_IOPS: Final = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class VolumePlan:
    """One EBS volume that a launch makes."""

    name: str
    size_gib: int
    volume_type: str
    iops: int | None
    throughput: int | None
    encrypted: bool
    kms_key_id: str | None
    delete_on_termination: bool


def check_volumes(
    world: World, region: str, request: Mapping[str, Any], image: Any, instance_type: str
) -> list[VolumePlan]:
    """Return the volumes of a launch, the root volume first. Raises InvalidBlockDeviceMapping, InvalidParameterValue, InvalidParameterCombination."""
    root_gib = int(getattr(image, "root_gib", 8))
    mappings = [dict(each) for each in request.get("BlockDeviceMappings") or []]
    names = [each.get("DeviceName") for each in mappings]
    if len(set(names)) != len(names):
        raise AwsError(
            "InvalidBlockDeviceMapping", "The same device name is specified twice in the block device mappings."
        )
    if image.root_device_name not in names:
        mappings.insert(0, {"DeviceName": image.root_device_name, "Ebs": {}})
    plans = []
    for each in mappings:
        if not each.get("DeviceName"):
            raise AwsError(
                "MissingParameter", "The request must contain the parameter DeviceName in each block device mapping."
            )
        if each.get("NoDevice") is not None or each.get("VirtualName"):
            if each.get("Ebs"):
                raise AwsError(
                    "InvalidBlockDeviceMapping", f"{each['DeviceName']} has both Ebs and NoDevice or VirtualName."
                )
            continue
        ebs = each.get("Ebs") or {}
        is_root = each["DeviceName"] == image.root_device_name
        size = ebs.get("VolumeSize")
        if size is None and not is_root and not ebs.get("SnapshotId"):
            raise AwsError(
                "MissingParameter",
                f"The request must contain the parameter size or snapshotId for {each['DeviceName']}.",
            )
        size = int(size) if size is not None else root_gib
        if is_root and size < root_gib:
            raise AwsError(
                "InvalidBlockDeviceMapping",
                f"Volume of size {size}GB is smaller than snapshot '{image.ebs_snapshot.id}', expect size>= {root_gib}GB",
            )
        volume_type = ebs.get("VolumeType") or ("gp3" if ebs.get("Throughput") else "gp2")
        check_volume(volume_type, size, iops=ebs.get("Iops"), throughput=ebs.get("Throughput"))
        if ebs.get("KmsKeyId") and not ebs.get("Encrypted"):
            raise AwsError(
                "InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set."
            )
        plans.append(
            VolumePlan(
                name=each["DeviceName"],
                size_gib=size,
                volume_type=volume_type,
                iops=int(ebs["Iops"]) if ebs.get("Iops") else None,
                throughput=int(ebs["Throughput"]) if ebs.get("Throughput") else None,
                encrypted=bool(ebs.get("Encrypted")),
                kms_key_id=ebs.get("KmsKeyId"),
                delete_on_termination=ebs.get("DeleteOnTermination") is not False
                if is_root
                else ebs.get("DeleteOnTermination") is True,
            )
        )
    return plans


def check_volume(volume_type: str, size_gib: int, *, iops: Any = None, throughput: Any = None) -> None:
    """Refuse a size, IOPS or throughput that the volume type does not take."""
    known = VOLUME_TYPES.get(volume_type)
    if known is None:
        raise AwsError("InvalidParameterValue", f"Invalid value '{volume_type}' for VolumeType.")
    low, high = known.size_gib
    if not low <= size_gib <= high:
        raise AwsError(
            "InvalidParameterValue",
            f"Volume size {size_gib} GiB is invalid for {volume_type}: it must be between {low} and {high}.",
        )
    if iops is not None:
        if known.iops is None:
            raise AwsError(
                "InvalidParameterCombination", f"The parameter iops is not supported for {volume_type} volumes."
            )
        if not known.iops[0] <= int(iops) <= known.iops[1]:
            raise AwsError(
                "InvalidParameterValue",
                f"Volume iops of {iops} is invalid for {volume_type}: it must be between {known.iops[0]} and {known.iops[1]}.",
            )
        if known.iops_per_gib and int(iops) > known.iops_per_gib * size_gib and int(iops) > known.iops[0]:
            raise AwsError(
                "InvalidParameterCombination",
                f"Iops to volume size ratio of {int(iops) / size_gib:.1f} is too high; the maximum is {known.iops_per_gib}.",
            )
    elif known.iops_needed:
        raise AwsError("MissingParameter", f"The parameter iops must be specified for {volume_type} volumes.")
    if throughput is not None:
        if known.throughput_mib_s is None:
            raise AwsError(
                "InvalidParameterCombination", f"The parameter throughput is not supported for {volume_type} volumes."
            )
        if not known.throughput_mib_s[0] <= int(throughput) <= known.throughput_mib_s[1]:
            raise AwsError(
                "InvalidParameterValue",
                f"Volume throughput of {throughput} MiB/s is invalid: it must be between {known.throughput_mib_s[0]} and {known.throughput_mib_s[1]}.",
            )
        if int(throughput) > GP3_MIB_S_PER_IOPS * int(iops or 3_000):
            raise AwsError(
                "InvalidParameterCombination",
                f"Throughput (MiBps) to iops ratio of {int(throughput) / int(iops or 3_000):.2f} is too high; maximum is {GP3_MIB_S_PER_IOPS}.",
            )


@rule("ec2", "CreateVolume", source=VOLUME_SOURCE)
def volume_is_well_formed(call: ApiCall) -> None:
    """Size or snapshot, and what the type takes."""
    params = call.params
    if params.get("Size") is None and not params.get("SnapshotId"):
        raise AwsError("MissingParameter", "The request must contain the parameter size or snapshotId.")
    if params.get("Size") is not None:
        check_volume(
            params.get("VolumeType") or "gp2",
            int(params["Size"]),
            iops=params.get("Iops"),
            throughput=params.get("Throughput"),
        )
    if params.get("KmsKeyId") and not params.get("Encrypted"):
        raise AwsError(
            "InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set."
        )


@rule("ec2", "CreateVolume", source="EC2 API reference, CreateVolume; EC2 error codes: InvalidZone.NotFound")
def volume_is_in_a_zone_that_exists(call: ApiCall) -> None:
    """A zone of the Region, by its name or by its id, not by both."""
    from gpukit_sandbox.cloud.ec2_capacity import zone_ids, zone_names

    name, identifier = call.params.get("AvailabilityZone"), call.params.get("AvailabilityZoneId")
    if name and identifier:
        raise AwsError(
            "InvalidParameterCombination", "AvailabilityZone and AvailabilityZoneId cannot both be specified."
        )
    if not name and not identifier:
        raise AwsError(
            "MissingParameter", "The request must contain the parameter AvailabilityZone or AvailabilityZoneId"
        )
    if (name and name not in zone_names(call.region)) or (identifier and identifier not in zone_ids(call.region)):
        raise AwsError("InvalidZone.NotFound", f"The zone '{name or identifier}' does not exist.")
