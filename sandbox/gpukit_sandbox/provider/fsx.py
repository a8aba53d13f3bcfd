"""FSx for Lustre: file systems and data repository associations."""

from typing import Any, ClassVar

from gpukit_sandbox.provider.convert import Unmatched, consumed, from_api, to_api
from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties, same_value
from gpukit_sandbox.provider.world import Calls

_TAGS = Tagging(
    create_member="Tags",
    tag_call="tag_resource",
    untag_call="untag_resource",
    target={"ResourceARN": "{arn}"},
    read_call="list_tags_for_resource",
    read_path="Tags",
)

_OUTER = frozenset(
    {
        "storageCapacity",
        "storageType",
        "subnetIds",
        "securityGroupIds",
        "kmsKeyId",
        "fileSystemTypeVersion",
        "tags",
        "region",
        "__defaults",
    }
)
_STEERING = frozenset({"skipFinalBackup", "finalBackupTags", "backupId", "tagsAll"})


class LustreFileSystem(Resource):
    """A Lustre file system; most of its settings are in a nested structure."""

    token = "aws:fsx/lustreFileSystem:LustreFileSystem"
    service, autoname = "fsx", ""
    create_call, id_from = "create_file_system", "FileSystem.FileSystemId"
    read_call, read_args, item = "describe_file_systems", {"FileSystemIds": ["{id}"]}, "FileSystems[0]"
    gone = ("FileSystemNotFound",)
    renames: ClassVar = {
        "subnetIds": "SubnetIds",
        "arn": "ResourceARN",
        "networkInterfaceIds": "NetworkInterfaceIds",
        "dnsName": "DNSName",
    }
    handles = _STEERING
    tagging = _TAGS
    status, ready, failed = "Lifecycle", ("AVAILABLE",), ("FAILED", "MISCONFIGURED", "MISCONFIGURED_UNAVAILABLE")
    waits_for_deletion = True
    defaults: ClassVar = {"skipFinalBackup": True, "storageType": "SSD", "deploymentType": "SCRATCH_1"}
    not_imported = frozenset(
        {"importPath", "exportPath", "importedFileChunkSize", "skipFinalBackup", "autoImportPolicy"}
    )

    def not_modelled(self, calls: Calls, inputs: Properties) -> list[tuple[str, str]]:
        """Hold the nested settings against the nested structure."""
        shape = calls.shape("fsx", "create_file_system").members["LustreConfiguration"]
        inner = {k: v for k, v in inputs.items() if k not in _OUTER and k not in _STEERING}
        unmatched = Unmatched()
        to_api(inner, shape, unmatched=unmatched)
        lost = [p for p in inner if p not in consumed(inner, shape)]
        return [(p, f"{p!r}: the sandbox's AWS double does not model it") for p in [*lost, *unmatched.paths]]

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Put the Lustre settings into their structure."""
        shape = calls.shape("fsx", "create_file_system")
        params = to_api(
            {k: v for k, v in inputs.items() if k in _OUTER and k not in ("tags", "region")}, shape, self.renames
        )
        inner = {k: v for k, v in inputs.items() if k not in _OUTER and k not in _STEERING}
        params |= {
            "FileSystemType": "LUSTRE",
            "LustreConfiguration": to_api(inner, shape.members["LustreConfiguration"]),
        }
        return {**params, **self.tagging.on_create(params, self.all_tags(calls, inputs), True)}

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read the nested settings back."""
        lustre = item.get("LustreConfiguration") or {}
        declared = {k: v for k, v in self.type.outputs.items() if k not in ("arn", "region", "tags", "tagsAll")}
        found = from_api(lustre, declared)
        found["subnetIds"] = (item.get("SubnetIds") or [None])[0]
        found["mountName"] = lustre.get("MountName")
        return found

    def replaces_for(self, old: Properties, new: Properties) -> set[str]:
        """Nothing shrinks in place: capacity, metadata IOPS, Lustre version; SCRATCH_1 does not even grow."""
        found = set()
        if (
            _number(new.get("storageCapacity")) < _number(old.get("storageCapacity"))
            or old.get("deploymentType") == "SCRATCH_1"
        ):
            found.add("storageCapacity")
        before, after = old.get("metadataConfiguration") or {}, new.get("metadataConfiguration") or {}
        if _number(after.get("iops")) < _number(before.get("iops")) or (
            before.get("mode") == "USER_PROVISIONED" and after.get("mode") == "AUTOMATIC"
        ):
            found.add("metadataConfiguration")
        if _number(new.get("fileSystemTypeVersion")) < _number(old.get("fileSystemTypeVersion")):
            found.add("fileSystemTypeVersion")
        return found

    @applies("storageCapacity", on_create=False)
    def grow(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Grow it: AWS takes capacity in an update of its own."""
        calls.call("fsx", "update_file_system", FileSystemId=resource_id, StorageCapacity=int(new["storageCapacity"]))
        self.wait_ready(calls, resource_id, new)

    @applies("fileSystemTypeVersion", on_create=False)
    def upgrade(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Raise the Lustre version."""
        calls.call(
            "fsx",
            "update_file_system",
            FileSystemId=resource_id,
            FileSystemTypeVersion=str(new["fileSystemTypeVersion"]),
        )
        self.wait_ready(calls, resource_id, new)

    @applies(
        "autoImportPolicy",
        "automaticBackupRetentionDays",
        "dailyAutomaticBackupStartTime",
        "dataCompressionType",
        "logConfiguration",
        "metadataConfiguration",
        "perUnitStorageThroughput",
        "rootSquashConfiguration",
        "weeklyMaintenanceStartTime",
        "dataReadCacheConfiguration",
        "throughputCapacity",
        on_create=False,
    )
    def tune(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change Lustre settings."""
        shape = calls.shape("fsx", "update_file_system").members["LustreConfiguration"]
        changed = {
            k: v for k, v in new.items() if k not in _OUTER and k not in _STEERING and not same_value(v, old.get(k))
        }
        if "rootSquashConfiguration" in old and "rootSquashConfiguration" not in new:
            changed["rootSquashConfiguration"] = {"rootSquash": "0:0", "noSquashNids": []}
        params = to_api(changed, shape)
        if params:
            calls.call("fsx", "update_file_system", FileSystemId=resource_id, LustreConfiguration=params)
            self.wait_ready(calls, resource_id, new)

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it, with a last backup where that was asked for."""
        skip = {"SkipFinalBackup": bool(state.get("skipFinalBackup", True))}
        deployment = str(state.get("deploymentType", ""))
        # Scratch systems have no backups: AWS refuses the setting there.
        extra = {} if deployment.startswith("SCRATCH") else {"LustreConfiguration": skip}
        calls.call("fsx", "delete_file_system", FileSystemId=resource_id, **extra)

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """Find it by its tags."""
        wanted = self.all_tags(calls, inputs)
        if not wanted:
            return None
        systems = calls.call("fsx", "describe_file_systems").get("FileSystems", [])
        same = [s for s in systems if {t["Key"]: t["Value"] for t in s.get("Tags", [])} == wanted]
        return str(same[0]["FileSystemId"]) if len(same) == 1 else None


class DataRepositoryAssociation(Resource):
    """What binds a bucket to a directory of a Lustre file system."""

    token = "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation"
    service, autoname = "fsx", ""
    create_call, id_from = "create_data_repository_association", "Association.AssociationId"
    read_call, read_args, item = (
        "describe_data_repository_associations",
        {"AssociationIds": ["{id}"]},
        "Associations[0]",
    )
    gone = ("DataRepositoryAssociationNotFound",)
    renames: ClassVar = {"arn": "ResourceARN", "batchImportMetaDataOnCreate": "BatchImportMetaDataOnCreate"}
    handles = frozenset({"deleteDataInFilesystem"})
    tagging = _TAGS
    status, ready, failed = "Lifecycle", ("AVAILABLE",), ("FAILED", "MISCONFIGURED")
    waits_for_deletion = True
    update_call, update_args = "update_data_repository_association", {"AssociationId": "{id}"}
    defaults: ClassVar = {"deleteDataInFilesystem": False, "batchImportMetaDataOnCreate": False}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it, and the files where that was asked for."""
        files = bool(state.get("deleteDataInFilesystem"))
        calls.call("fsx", "delete_data_repository_association", AssociationId=resource_id, DeleteDataInFileSystem=files)


def _number(value: Any) -> float:
    """Return a stated number; an unknown or unstated one never counts as smaller."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("inf") if value is not None else 0.0
