"""EFS: throughput modes, encryption, One Zone, mount targets, and what goes first."""

import re
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud.ec2_launch_rules import find_subnet
from gpukit_sandbox.cloud.ec2_launches import backend_of
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

_EFS_DOC: Final = "EFS API reference, CreateFileSystem, CreateMountTarget, DeleteFileSystem"
MAX_PROVISIONED_MIB_S: Final = 3_414
MAX_GROUPS: Final = 5


def _bad(message: str) -> AwsError:
    return AwsError("BadRequest", message)


@rule("efs", "CreateFileSystem", "UpdateFileSystem", source=_EFS_DOC)
def throughput_settings_go_together(call: ApiCall) -> None:
    """An amount exactly with the mode provisioned, within the range; max I/O not with elastic or One Zone."""
    params = call.params
    mode, amount = params.get("ThroughputMode"), params.get("ProvisionedThroughputInMibps")
    if mode == "provisioned" and amount is None:
        raise _bad("ProvisionedThroughputInMibps must be specified when ThroughputMode is provisioned.")
    if amount is not None and mode not in (
        "provisioned",
        None if call.operation == "UpdateFileSystem" else "provisioned",
    ):
        raise _bad("ProvisionedThroughputInMibps is valid only when ThroughputMode is provisioned.")
    if amount is not None and not 1 <= float(amount) <= MAX_PROVISIONED_MIB_S:
        raise AwsError(
            "ThroughputLimitExceeded" if float(amount) > MAX_PROVISIONED_MIB_S else "BadRequest",
            f"ProvisionedThroughputInMibps {amount} is out of range.",
        )
    if call.operation == "UpdateFileSystem":
        return
    if params.get("PerformanceMode") == "maxIO":
        if mode == "elastic":
            raise _bad("The performance mode maxIO is not supported with the throughput mode elastic.")
        if params.get("AvailabilityZoneName"):
            raise _bad("The performance mode maxIO is not supported by One Zone file systems.")
    if params.get("KmsKeyId") and params.get("Encrypted") is not True:
        raise _bad("KmsKeyId needs Encrypted to be true.")
    zone = params.get("AvailabilityZoneName")
    if zone and zone not in {each.name for each in backend_of(call.region).zones.get(call.region, ())}:
        raise AwsError(
            "AvailabilityZonesMismatch" if zone[:-1] == call.region else "BadRequest",
            f"The Availability Zone {zone} does not exist.",
        )


@rule("efs", "CreateMountTarget", source=_EFS_DOC)
def mount_target_is_allowed(call: ApiCall) -> None:
    """One a zone, in one VPC, in the zone of a One Zone file system, with at most five groups of that VPC."""
    params, backend = call.params, get_backend("efs")[ACCOUNT_ID][call.region]
    system = backend.file_systems_by_id.get(params.get("FileSystemId", ""))
    if system is None:
        return
    try:
        subnet = find_subnet(backend_of(call.region), params.get("SubnetId", ""))
    except AwsError as problem:
        raise AwsError("SubnetNotFound", f"The subnet ID '{params.get('SubnetId')}' does not exist") from problem
    standing = [each for each in backend.mount_targets_by_id.values() if each.file_system_id == system.file_system_id]
    for each in standing:
        other = find_subnet(backend_of(call.region), each.subnet_id)
        if other.availability_zone == subnet.availability_zone:
            raise AwsError("MountTargetConflict", "mount target already exists in this AZ", status=409)
        if other.vpc_id != subnet.vpc_id:
            raise AwsError(
                "MountTargetConflict",
                "requested subnet for new mount target is not in the same VPC as existing mount targets",
                status=409,
            )
    zone = getattr(system, "availability_zone_name", None)
    if zone and zone != subnet.availability_zone:
        raise AwsError(
            "AvailabilityZonesMismatch", f"The file system is in {zone}, the subnet in {subnet.availability_zone}."
        )
    groups = params.get("SecurityGroups") or []
    if len(groups) > MAX_GROUPS:
        raise AwsError("SecurityGroupLimitExceeded", f"A mount target takes at most {MAX_GROUPS} security groups.")
    for identifier in groups:
        group = backend_of(call.region).get_security_group_from_id(identifier)
        if group is None or group.vpc_id != subnet.vpc_id:
            raise AwsError(
                "SecurityGroupNotFound", f"The SecurityGroup ID '{identifier}' does not exist in the VPC of the subnet."
            )


@rule("efs", "DeleteFileSystem", source=_EFS_DOC)
def file_system_has_no_mount_target(call: ApiCall) -> None:
    """Mount targets go first."""
    backend = get_backend("efs")[ACCOUNT_ID][call.region]
    if any(each.file_system_id == call.params.get("FileSystemId") for each in backend.mount_targets_by_id.values()):
        raise AwsError("FileSystemInUse", "Can't delete a file system that has mount targets.", status=409)


@rule("efs", "PutLifecycleConfiguration", source="EFS API reference, PutLifecycleConfiguration")
def lifecycle_policies_are_one_each(call: ApiCall) -> None:
    """One transition an entry, each kind once, to the archive later than to infrequent access."""
    days: dict[str, int] = {}
    policies: list[dict[str, Any]] = call.params.get("LifecyclePolicies") or []
    for each in policies:
        given = [
            name
            for name in ("TransitionToIA", "TransitionToPrimaryStorageClass", "TransitionToArchive")
            if each.get(name)
        ]
        if len(given) != 1:
            raise _bad("Each LifecyclePolicy object takes exactly one transition.")
        if given[0] in days:
            raise _bad(f"{given[0]} is given twice.")
        match = re.search(r"\d+", str(each[given[0]]))
        days[given[0]] = int(match.group()) if match else 0
    if (
        "TransitionToArchive" in days
        and "TransitionToIA" in days
        and days["TransitionToArchive"] <= days["TransitionToIA"]
    ):
        raise _bad("TransitionToArchive must come later than TransitionToIA.")
