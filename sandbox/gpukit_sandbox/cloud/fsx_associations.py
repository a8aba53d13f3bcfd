"""Data repository associations, backups and tags of FSx for Lustre."""

from collections.abc import Mapping
from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.fsx_file_systems import KIND as FILE_SYSTEMS
from gpukit_sandbox.cloud.fsx_file_systems import find_file_system, shown
from gpukit_sandbox.cloud.fsx_rules import bad
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import arn, new_id

KIND: Final = "fsx-data-repository-associations"
BACKUPS: Final = "fsx-backups"
MAX_ASSOCIATIONS: Final = 8
_SOURCE: Final = "FSx API reference, CreateDataRepositoryAssociation; FSx for Lustre User Guide, linking to S3"


@rule("fsx", "CreateDataRepositoryAssociation", source=_SOURCE)
def association_is_allowed(call: ApiCall) -> None:
    """Lustre 2.12 or newer and no SCRATCH_1; an absolute path; an S3 path; no overlap with another association; at most eight."""
    params = call.params
    record = find_file_system(call.world, call.region, params["FileSystemId"])
    lustre = record["LustreConfiguration"]
    if lustre["DeploymentType"] == "SCRATCH_1" or record["FileSystemTypeVersion"] == "2.10":
        raise AwsError("UnsupportedOperation", "Data repository associations need Lustre 2.12 or newer.")
    if record["Lifecycle"] != "AVAILABLE":
        raise bad(f"The file system is {record['Lifecycle']}, not AVAILABLE.")
    if lustre.get("DataRepositoryConfiguration"):
        raise bad("The file system was created with an ImportPath: it takes no associations.")
    path = params.get("FileSystemPath")
    if not path:
        raise bad("FileSystemPath is required.")
    if not path.startswith("/") or "//" in path or "/../" in path + "/":
        raise bad(f"FileSystemPath must be an absolute path: {path}")
    source = params["DataRepositoryPath"]
    if not source.startswith("s3://") or len(source) < 6 or source[5] == "/":
        raise bad(f"DataRepositoryPath must look like s3://bucket/prefix/: {source}")
    others = [
        each for each in call.world.table(call.region, KIND).values() if each["FileSystemId"] == params["FileSystemId"]
    ]
    for each in others:
        if _overlap(path, each["FileSystemPath"]):
            raise bad(f"FileSystemPath {path} overlaps with {each['FileSystemPath']} of {each['AssociationId']}.")
        if _overlap(source, each["DataRepositoryPath"]):
            raise bad(
                f"DataRepositoryPath {source} overlaps with {each['DataRepositoryPath']} of {each['AssociationId']}."
            )
    if len(others) >= MAX_ASSOCIATIONS:
        raise AwsError(
            "ServiceLimitExceeded",
            f"A file system takes at most {MAX_ASSOCIATIONS} data repository associations.",
            fields={"Limit": "TOTAL_STORAGE"},
        )
    for name in ("AutoImportPolicy", "AutoExportPolicy"):
        events = ((params.get("S3") or {}).get(name) or {}).get("Events")
        if events is not None and len(set(events)) != len(events):
            raise bad(f"{name} names an event twice.")


@action("fsx", "CreateDataRepositoryAssociation")
def create_association(call: ApiCall) -> dict[str, Any]:
    """Link a directory of a file system to S3."""
    params = call.params
    identifier = new_id("dra")
    record = {
        "AssociationId": identifier,
        "ResourceARN": arn("fsx", call.region, f"association/{params['FileSystemId']}/{identifier}"),
        "FileSystemId": params["FileSystemId"],
        "Lifecycle": "AVAILABLE",
        "FileSystemPath": params["FileSystemPath"],
        "DataRepositoryPath": params["DataRepositoryPath"],
        "BatchImportMetaDataOnCreate": bool(params.get("BatchImportMetaDataOnCreate")),
        "ImportedFileChunkSize": int(params.get("ImportedFileChunkSize") or 1024),
        "S3": params.get("S3") or {},
        "Tags": [dict(each) for each in params.get("Tags") or []],
        "CreationTime": call.world.now(),
    }
    call.world.table(call.region, KIND)[identifier] = record
    return {"Association": {**record, "Lifecycle": "CREATING"}}


@action("fsx", "DescribeDataRepositoryAssociations")
def describe_associations(call: ApiCall) -> dict[str, Any]:
    """Return associations by id and file system."""
    wanted = call.params.get("AssociationIds")
    table = call.world.table(call.region, KIND)
    found = [_find(call, each) for each in wanted] if wanted else list(table.values())
    for each in call.params.get("Filters") or []:
        field = {"file-system-id": "FileSystemId", "data-repository-type": "_"}.get(
            each.get("Name", ""), "FileSystemId"
        )
        found = [record for record in found if record.get(field) in (each.get("Values") or [])]
    return {"Associations": found}


@action("fsx", "UpdateDataRepositoryAssociation")
def update_association(call: ApiCall) -> dict[str, Any]:
    """Change chunk size and policies of an association."""
    record = _find(call, call.params["AssociationId"])
    if call.params.get("ImportedFileChunkSize"):
        record["ImportedFileChunkSize"] = int(call.params["ImportedFileChunkSize"])
    if call.params.get("S3"):
        record["S3"] = {**record["S3"], **call.params["S3"]}
    return {"Association": record}


@action("fsx", "DeleteDataRepositoryAssociation")
def delete_association(call: ApiCall) -> dict[str, Any]:
    """Unlink a directory."""
    record = _find(call, call.params["AssociationId"])
    del call.world.table(call.region, KIND)[record["AssociationId"]]
    return {
        "AssociationId": record["AssociationId"],
        "Lifecycle": "DELETING",
        "DeleteDataInFileSystem": bool(call.params.get("DeleteDataInFileSystem")),
    }


@action("fsx", "CreateBackup")
def create_backup(call: ApiCall) -> dict[str, Any]:
    """Back a persistent file system up."""
    record = find_file_system(call.world, call.region, call.params.get("FileSystemId") or "")
    if record["LustreConfiguration"]["DeploymentType"].startswith("SCRATCH"):
        raise bad("Scratch file systems cannot be backed up.")
    if any(each["FileSystemId"] == record["FileSystemId"] for each in call.world.table(call.region, KIND).values()):
        raise bad("File systems linked to a data repository cannot be backed up.")
    table = call.world.table(call.region, BACKUPS)
    if len(table) >= quota(call.world, call.region, "fsx", "backups"):
        raise AwsError(
            "ServiceLimitExceeded",
            "The number of backups has reached its quota.",
            fields={"Limit": "TOTAL_USER_INITIATED_BACKUPS"},
        )
    identifier = new_id("backup")
    table[identifier] = {
        "BackupId": identifier,
        "Lifecycle": "AVAILABLE",
        "Type": "USER_INITIATED",
        "ProgressPercent": 100,
        "CreationTime": call.world.now(),
        "ResourceARN": arn("fsx", call.region, f"backup/{identifier}"),
        "Tags": [dict(each) for each in call.params.get("Tags") or []],
        "FileSystem": shown(record),
        "OwnerId": record["OwnerId"],
        "ResourceType": "FILE_SYSTEM",
    }
    return {"Backup": table[identifier]}


@action("fsx", "DescribeBackups")
def describe_backups(call: ApiCall) -> dict[str, Any]:
    """Return backups."""
    wanted = call.params.get("BackupIds")
    table = call.world.table(call.region, BACKUPS)
    for each in wanted or ():
        if each not in table:
            raise AwsError("BackupNotFound", f"Backup '{each}' does not exist.")
    return {"Backups": [each for key, each in table.items() if not wanted or key in wanted]}


@action("fsx", "DeleteBackup")
def delete_backup(call: ApiCall) -> dict[str, Any]:
    """Delete a backup."""
    identifier = call.params["BackupId"]
    if call.world.table(call.region, BACKUPS).pop(identifier, None) is None:
        raise AwsError("BackupNotFound", f"Backup '{identifier}' does not exist.")
    return {"BackupId": identifier, "Lifecycle": "DELETED"}


@action("fsx", "TagResource")
def tag_resource(call: ApiCall) -> dict[str, Any]:
    """Set tags."""
    record = _find_by_arn(call)
    new = {each["Key"]: each.get("Value", "") for each in call.params.get("Tags") or []}
    record["Tags"] = [each for each in record["Tags"] if each["Key"] not in new] + [
        {"Key": key, "Value": value} for key, value in new.items()
    ]
    return {}


@action("fsx", "UntagResource")
def untag_resource(call: ApiCall) -> dict[str, Any]:
    """Remove tags."""
    record = _find_by_arn(call)
    record["Tags"] = [each for each in record["Tags"] if each["Key"] not in (call.params.get("TagKeys") or [])]
    return {}


@action("fsx", "ListTagsForResource")
def list_tags_for_resource(call: ApiCall) -> dict[str, Any]:
    """Return tags."""
    return {"Tags": _find_by_arn(call)["Tags"]}


def _find(call: ApiCall, identifier: str) -> dict[str, Any]:
    record: dict[str, Any] | None = call.world.table(call.region, KIND).get(identifier)
    if record is None:
        raise AwsError(
            "DataRepositoryAssociationNotFound", f"Data repository association '{identifier}' does not exist."
        )
    return record


def _find_by_arn(call: ApiCall) -> dict[str, Any]:
    wanted = call.params["ResourceARN"]
    tables: list[Mapping[str, Any]] = [call.world.table(call.region, kind) for kind in (FILE_SYSTEMS, KIND, BACKUPS)]
    for table in tables:
        for record in table.values():
            if record["ResourceARN"] == wanted:
                found: dict[str, Any] = record
                return found
    raise AwsError("ResourceNotFound", f"The resource {wanted} does not exist.", fields={"ResourceARN": wanted})


def _overlap(first: str, second: str) -> bool:
    one, two = first.rstrip("/") + "/", second.rstrip("/") + "/"
    return one.startswith(two) or two.startswith(one)
