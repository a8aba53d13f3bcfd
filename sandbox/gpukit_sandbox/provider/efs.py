"""EFS: file systems, mount targets, access points, policies."""

from typing import Any, ClassVar

from gpukit_sandbox.provider.convert import to_api
from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls, Refused

_TAGS = Tagging(
    create_member="Tags",
    tag_call="tag_resource",
    untag_call="untag_resource",
    target={"ResourceId": "{id}"},
    read_call="list_tags_for_resource",
    read_path="Tags",
)


class FileSystem(Resource):
    """An elastic file system."""

    token = "aws:efs/fileSystem:FileSystem"
    service, autoname, autoname_max = "efs", "creationToken", 64
    create_call, id_from = "create_file_system", "FileSystemId"
    read_call, read_args, item = "describe_file_systems", {"FileSystemId": "{id}"}, "FileSystems[0]"
    gone = ("FileSystemNotFound",)
    delete_call, delete_args = "delete_file_system", {"FileSystemId": "{id}"}
    renames: ClassVar = {"arn": "FileSystemArn"}
    tagging = _TAGS
    status, ready, failed = "LifeCycleState", ("available",), ("error",)
    waits_for_deletion = True
    not_imported = frozenset({"protection"})

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """The creation token names it."""
        found = calls.call("efs", "describe_file_systems", CreationToken=inputs["creationToken"])["FileSystems"]
        return str(found[0]["FileSystemId"]) if found else None

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """AWS makes the id."""
        return None

    @applies("lifecyclePolicies")
    def lifecycle(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Replace the lifecycle rules; AWS wants one transition a rule."""
        members = {
            "transitionToIa": "TransitionToIA",
            "transitionToPrimaryStorageClass": "TransitionToPrimaryStorageClass",
            "transitionToArchive": "TransitionToArchive",
        }
        rules = [
            {members[name]: value}
            for policy in new.get("lifecyclePolicies") or []
            for name, value in policy.items()
            if value
        ]
        calls.call("efs", "put_lifecycle_configuration", FileSystemId=resource_id, LifecyclePolicies=rules)

    @applies("protection")
    def protection(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the protection against being overwritten by a replica."""
        word = (new.get("protection") or {}).get("replicationOverwrite", "ENABLED")
        calls.call(
            "efs", "update_file_system_protection", FileSystemId=resource_id, ReplicationOverwriteProtection=word
        )

    @applies("throughputMode", "provisionedThroughputInMibps", on_create=False)
    def throughput(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change the throughput mode."""
        speed = (
            {"ProvisionedThroughputInMibps": float(new["provisionedThroughputInMibps"])}
            if new.get("provisionedThroughputInMibps")
            else {}
        )
        calls.call(
            "efs",
            "update_file_system",
            FileSystemId=resource_id,
            ThroughputMode=new.get("throughputMode", "bursting"),
            **speed,
        )

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add name and lifecycle rules."""
        rules = calls.call("efs", "describe_lifecycle_configuration", FileSystemId=resource_id).get(
            "LifecyclePolicies", []
        )
        members = {
            "TransitionToIA": "transitionToIa",
            "TransitionToPrimaryStorageClass": "transitionToPrimaryStorageClass",
            "TransitionToArchive": "transitionToArchive",
        }
        size = (item.get("SizeInBytes") or {}).get("Value", 0)
        return {
            "dnsName": f"{resource_id}.efs.{calls.region}.amazonaws.com",
            "lifecyclePolicies": [{members[k]: v for k, v in rule.items() if k in members} for rule in rules],
            "sizeInBytes": [{"value": int(size), "valueInIa": 0, "valueInStandard": int(size)}],
        }


class MountTarget(Resource):
    """A mount target in a subnet."""

    token = "aws:efs/mountTarget:MountTarget"
    service, autoname = "efs", ""
    create_call, id_from = "create_mount_target", "MountTargetId"
    read_call, read_args, item = "describe_mount_targets", {"MountTargetId": "{id}"}, "MountTargets[0]"
    gone = ("MountTargetNotFound",)
    delete_call, delete_args = "delete_mount_target", {"MountTargetId": "{id}"}
    status, ready, failed = "LifeCycleState", ("available",), ("error",)
    waits_for_deletion = True

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """A subnet has one mount target of a file system at most."""
        for target in calls.call("efs", "describe_mount_targets", FileSystemId=inputs["fileSystemId"])["MountTargets"]:
            if target["SubnetId"] == inputs["subnetId"]:
                return str(target["MountTargetId"])
        return None

    @applies("securityGroups", on_create=False)
    def groups(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change the security groups."""
        calls.call(
            "efs",
            "modify_mount_target_security_groups",
            MountTargetId=resource_id,
            SecurityGroups=list(new.get("securityGroups") or []),
        )

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add groups and names."""
        groups = calls.call("efs", "describe_mount_target_security_groups", MountTargetId=resource_id)["SecurityGroups"]
        name = f"{item['FileSystemId']}.efs.{calls.region}.amazonaws.com"
        return {
            "securityGroups": groups,
            "dnsName": name,
            "mountTargetDnsName": f"{item.get('AvailabilityZoneName', '')}.{name}",
            "fileSystemArn": f"arn:aws:elasticfilesystem:{calls.region}:{calls.account}:file-system/{item['FileSystemId']}",
        }


class AccessPoint(Resource):
    """An access point with its own root and user."""

    token = "aws:efs/accessPoint:AccessPoint"
    service, autoname = "efs", ""
    create_call, id_from = "create_access_point", "AccessPointId"
    read_call, read_args, item = "describe_access_points", {"AccessPointId": "{id}"}, "AccessPoints[0]"
    gone = ("AccessPointNotFound",)
    delete_call, delete_args = "delete_access_point", {"AccessPointId": "{id}"}
    renames: ClassVar = {"arn": "AccessPointArn"}
    tagging = _TAGS
    status, ready, failed = "LifeCycleState", ("available",), ("error",)
    waits_for_deletion = True

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the file system's ARN."""
        return {
            "fileSystemArn": f"arn:aws:elasticfilesystem:{calls.region}:{calls.account}:file-system/{item['FileSystemId']}"
        }

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """The client token makes a repeated call harmless."""
        params = super().create_params(calls, inputs)
        params.setdefault("ClientToken", _token(inputs))
        return params


class FileSystemPolicy(Resource):
    """The policy of a file system; the file system's id is its id."""

    token = "aws:efs/fileSystemPolicy:FileSystemPolicy"
    service, autoname = "efs", ""
    create_call, id_from = "put_file_system_policy", "FileSystemId"
    gone = ("PolicyNotFound", "FileSystemNotFound")
    read_call, read_args = "describe_file_system_policy", {"FileSystemId": "{id}"}
    delete_call, delete_args = "delete_file_system_policy", {"FileSystemId": "{id}"}
    defaults: ClassVar = {"bypassPolicyLockoutSafetyCheck": False}

    @applies("policy", on_create=False)
    def rewrite(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Replace the text."""
        calls.call("efs", "put_file_system_policy", FileSystemId=resource_id, Policy=new["policy"])


class BackupPolicy(Resource):
    """The backup switch of a file system."""

    token = "aws:efs/backupPolicy:BackupPolicy"
    service, autoname = "efs", ""
    create_call = "put_backup_policy"
    gone = ("PolicyNotFound", "FileSystemNotFound")
    read_call, read_args = "describe_backup_policy", {"FileSystemId": "{id}"}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the file system's id."""
        return str(inputs["fileSystemId"])

    @applies("backupPolicy", on_create=False)
    def switch(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch it."""
        params = to_api(new, calls.shape("efs", "put_backup_policy"))
        calls.call("efs", "put_backup_policy", **params)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Say whose policy it is."""
        return {"fileSystemId": resource_id}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Switch it off."""
        try:
            calls.call("efs", "put_backup_policy", FileSystemId=resource_id, BackupPolicy={"Status": "DISABLED"})
        except Refused as refusal:
            if refusal.code not in self.gone:
                raise


def _token(inputs: Properties) -> str:
    import hashlib
    import json

    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:32]
