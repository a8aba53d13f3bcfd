"""Single actions that moto lacks in services that it otherwise answers: EFS, Logs, IAM and EC2."""

from typing import Any

from moto.backends import get_backend

from gpukit_sandbox.cloud.ec2_capacity import find_reservation, free_instances
from gpukit_sandbox.cloud.ec2_launches import live_instances
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID


def _efs(call: ApiCall) -> Any:
    system = get_backend("efs")[ACCOUNT_ID][call.region].file_systems_by_id.get(call.params.get("FileSystemId", ""))
    if system is None:
        raise AwsError(
            "FileSystemNotFound", f"File system '{call.params.get('FileSystemId')}' does not exist.", status=404
        )
    return system


@action("efs", "UpdateFileSystem")
def update_file_system(call: ApiCall) -> dict[str, Any]:
    """Change the throughput mode of an EFS file system."""
    system, params = _efs(call), call.params
    if params.get("ThroughputMode"):
        system.throughput_mode = params["ThroughputMode"]
        system.provisioned_throughput_in_mibps = params.get("ProvisionedThroughputInMibps")
    elif params.get("ProvisionedThroughputInMibps") is not None:
        if system.throughput_mode != "provisioned":
            raise AwsError("BadRequest", "ProvisionedThroughputInMibps needs the throughput mode provisioned.")
        system.provisioned_throughput_in_mibps = params["ProvisionedThroughputInMibps"]
    return dict(system.info_json())


@action("efs", "PutBackupPolicy")
def put_backup_policy(call: ApiCall) -> dict[str, Any]:
    """Turn automatic backups on or off."""
    status = (call.params.get("BackupPolicy") or {}).get("Status", "")
    _efs(call)._backup = status in ("ENABLED", "ENABLING")
    return {"BackupPolicy": {"Status": status}}


@action("efs", "DescribeBackupPolicy")
def describe_backup_policy(call: ApiCall) -> dict[str, Any]:
    """Return whether automatic backups are on."""
    return {"BackupPolicy": {"Status": "ENABLED" if _efs(call)._backup else "DISABLED"}}


@action("efs", "UpdateFileSystemProtection")
def update_file_system_protection(call: ApiCall) -> dict[str, Any]:
    """Turn the protection against being overwritten by replication on or off."""
    system = _efs(call)
    system.replication_overwrite_protection = call.params.get("ReplicationOverwriteProtection") or "ENABLED"
    return {"ReplicationOverwriteProtection": system.replication_overwrite_protection}


@action("efs", "DeleteFileSystemPolicy")
def delete_file_system_policy(call: ApiCall) -> dict[str, Any]:
    """Go back to the default policy."""
    _efs(call).file_system_policy = None
    return {}


def _log_group(call: ApiCall) -> Any:
    name = call.params.get("logGroupName") or str(call.params.get("resourceIdentifier", "")).split(":log-group:")[
        -1
    ].removesuffix(":*")
    group = get_backend("logs")[ACCOUNT_ID][call.region].groups.get(name)
    if group is None:
        raise AwsError("ResourceNotFoundException", "The specified log group does not exist.")
    return group


@action("logs", "AssociateKmsKey")
def associate_kms_key(call: ApiCall) -> dict[str, Any]:
    """Encrypt a log group with a key."""
    _log_group(call).kms_key_id = call.params["kmsKeyId"]
    return {}


@action("logs", "DisassociateKmsKey")
def disassociate_kms_key(call: ApiCall) -> dict[str, Any]:
    """Go back to the service's own key."""
    _log_group(call).kms_key_id = None
    return {}


def _oidc_provider(call: ApiCall) -> Any:
    for provider in get_backend("iam")[ACCOUNT_ID]["aws"].open_id_providers.values():
        if provider.arn == call.params.get("OpenIDConnectProviderArn"):
            return provider
    raise AwsError(
        "NoSuchEntity", f"OpenIDConnect Provider not found for arn {call.params.get('OpenIDConnectProviderArn')}"
    )


@action("iam", "AddClientIDToOpenIDConnectProvider")
def add_client_id(call: ApiCall) -> dict[str, Any]:
    """Let another audience in."""
    provider = _oidc_provider(call)
    if call.params["ClientID"] not in provider.client_id_list:
        provider.client_id_list.append(call.params["ClientID"])
    return {}


@action("iam", "RemoveClientIDFromOpenIDConnectProvider")
def remove_client_id(call: ApiCall) -> dict[str, Any]:
    """Let an audience in no longer."""
    provider = _oidc_provider(call)
    provider.client_id_list = [each for each in provider.client_id_list if each != call.params["ClientID"]]
    return {}


@action("ec2", "ModifyInstanceCapacityReservationAttributes")
def modify_instance_reservation(call: ApiCall) -> dict[str, Any]:
    """Change what a stopped instance asks of reservations."""
    instance = next((each for each in live_instances(call.region) if each.id == call.params.get("InstanceId")), None)
    if instance is None:
        raise AwsError(
            "InvalidInstanceID.NotFound", f"The instance ID '{call.params.get('InstanceId')}' does not exist"
        )
    if instance.state != "stopped":
        raise AwsError(
            "IncorrectInstanceState",
            f"The instance '{instance.id}' is not in a state from which its reservation settings can be changed.",
        )
    specification = call.params.get("CapacityReservationSpecification") or {}
    instance.capacity_reservation_specification = specification
    instance.capacity_reservation_id = (specification.get("CapacityReservationTarget") or {}).get(
        "CapacityReservationId"
    )
    return {"Return": True}


@rule("ec2", "StartInstances", source="EC2 User Guide, Capacity Reservations: a stopped instance holds no capacity")
def started_instance_finds_its_place(call: ApiCall) -> None:
    """An instance that targets a reservation starts only if there is room in it, and an on-demand one only within capacity."""
    for each in live_instances(call.region):
        if (
            each.id in (call.params.get("InstanceIds") or [])
            and each.state == "stopped"
            and getattr(each, "capacity_reservation_id", None)
        ):
            record = find_reservation(call.world, call.region, each.capacity_reservation_id)
            if record["State"] != "active" or free_instances(call.region, record) < 1:
                raise AwsError(
                    "ReservationCapacityExceeded",
                    "The requested reservation does not have sufficient compatible and available capacity for this request.",
                )
