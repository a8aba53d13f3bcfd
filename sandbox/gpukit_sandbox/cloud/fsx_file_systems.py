"""FSx for Lustre: file systems with the network interfaces they lay into the subnet, changes, tags, quotas."""

import ipaddress
import math
import random
import re
import string
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud import fsx_rules
from gpukit_sandbox.cloud.ec2_instances import CardInterface, free_addresses, require_address
from gpukit_sandbox.cloud.ec2_launch_rules import find_subnet
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.fsx_rules import bad
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, World, arn, new_id

KIND: Final = "fsx-file-systems"
LUSTRE_PORT: Final = 988
HOURS_BETWEEN_CHANGES: Final = 6
GIB_PER_SERVER: Final = 2_400
_OTHER_KINDS: Final = ("WindowsConfiguration", "OntapConfiguration", "OpenZFSConfiguration")


def find_file_system(world: World, region: str, identifier: str) -> dict[str, Any]:
    """Return a file system. Raises FileSystemNotFound."""
    record = world.table(region, KIND).get(identifier)
    if record is None:
        raise AwsError("FileSystemNotFound", f"File system '{identifier}' does not exist.")
    if record.get("_ready_at") is not None and world.now() >= record["_ready_at"]:
        record["Lifecycle"], record["_ready_at"] = "AVAILABLE", None
    found: dict[str, Any] = record
    return found


@rule("fsx", "CreateFileSystem", source=fsx_rules.LUSTRE_SOURCE)
def file_system_is_lustre(call: ApiCall) -> None:
    """The sandbox models Lustre, and says so aloud for the others."""
    kind = call.params.get("FileSystemType")
    if kind != "LUSTRE":
        raise AwsError("NotImplemented", f"The sandbox models FSx for Lustre only, not {kind}.")
    for name in _OTHER_KINDS:
        if call.params.get(name):
            raise bad(f"{name} may not be given for a Lustre file system.")


@rule("fsx", "CreateFileSystem", source=fsx_rules.LUSTRE_SOURCE)
def lustre_settings_go_together(call: ApiCall) -> None:
    """Capacity, throughput, metadata, EFA, version and backups, by deployment type."""
    params = call.params
    fsx_rules.check_lustre(
        params.get("StorageCapacity"),
        params.get("StorageType") or "SSD",
        params.get("LustreConfiguration") or {},
        version=params.get("FileSystemTypeVersion"),
        kms_key=params.get("KmsKeyId"),
    )


@rule(
    "fsx",
    "CreateFileSystem",
    source="FSx API reference, CreateFileSystem: SubnetIds; FSx for Lustre User Guide, security groups (TCP 988)",
)
def lustre_network_lets_clients_in(call: ApiCall) -> None:
    """Exactly one subnet that exists; groups of its VPC that let Lustre through to themselves, and everything with EFA."""
    params = call.params
    subnets = params.get("SubnetIds") or []
    if len(subnets) != 1:
        raise bad(f"A Lustre file system takes exactly one subnet, not {len(subnets)}.")
    backend = get_backend("ec2")[ACCOUNT_ID][call.region]
    try:
        subnet = find_subnet(backend, subnets[0])
    except AwsError as problem:
        raise AwsError(
            "InvalidNetworkSettings",
            f"The subnet ID '{subnets[0]}' does not exist.",
            fields={"InvalidSubnetId": subnets[0]},
        ) from problem
    groups = _groups(backend, subnet, params.get("SecurityGroupIds") or [])
    ranges = [ipaddress.ip_network(subnet.cidr_block)]
    identifiers = {each.id for each in groups}
    if not any(_lets_in(each, identifiers, ranges, LUSTRE_PORT) for each in groups) or not any(
        _lets_out(each, identifiers, ranges, LUSTRE_PORT) for each in groups
    ):
        raise AwsError(
            "InvalidNetworkSettings",
            f"The security groups {sorted(identifiers)} do not permit Lustre LNET network traffic on port {LUSTRE_PORT} between the file system and itself.",
        )
    if (params.get("LustreConfiguration") or {}).get("EfaEnabled"):
        both = any(_lets_all(each.ingress_rules, identifiers) for each in groups) and any(
            _lets_all(each.egress_rules, identifiers) for each in groups
        )
        if not both:
            raise AwsError(
                "InvalidNetworkSettings",
                "An EFA-enabled file system needs a security group that allows all traffic to and from itself, by its ID.",
            )


@rule("fsx", "CreateFileSystem", source="Service Quotas, Amazon FSx; facts limits.csv, area fsx")
def lustre_is_within_quota(call: ApiCall) -> None:
    """Capacity and number of file systems of each deployment type."""
    lustre = call.params.get("LustreConfiguration") or {}
    kind, storage = lustre.get("DeploymentType") or "SCRATCH_1", call.params.get("StorageType") or "SSD"
    require_capacity(call, kind, storage, int(call.params.get("StorageCapacity") or 0))
    count = fsx_rules.COUNT_QUOTAS.get(kind)
    standing = [
        each
        for each in call.world.table(call.region, KIND).values()
        if each["LustreConfiguration"]["DeploymentType"] == kind
    ]
    if count and len(standing) >= quota(call.world, call.region, "fsx", count):
        raise AwsError(
            "ServiceLimitExceeded",
            f"The number of {kind} file systems has reached its quota.",
            fields={"Limit": "FILE_SYSTEM_COUNT"},
        )


def require_capacity(call: ApiCall, kind: str, storage: str, more_gib: int) -> None:
    """Raise ServiceLimitExceeded when that much more storage of a deployment type does not fit."""
    if storage == "HDD":
        limit, used = quota(call.world, call.region, "fsx", "hdd-cap"), 0
    else:
        limit = quota(call.world, call.region, "fsx", fsx_rules.STORAGE_QUOTAS[kind])
        used = sum(
            int(each.get("StorageCapacity") or 0)
            for each in call.world.table(call.region, KIND).values()
            if each["StorageType"] == storage
            and fsx_rules.STORAGE_QUOTAS[each["LustreConfiguration"]["DeploymentType"]]
            == fsx_rules.STORAGE_QUOTAS[kind]
        )
    if used + more_gib > limit:
        raise AwsError(
            "ServiceLimitExceeded",
            f"The request exceeds the quota of {limit:.0f} GiB for {kind} storage: {used} GiB used, {more_gib} GiB more.",
            fields={"Limit": "TOTAL_STORAGE"},
        )


@action("fsx", "CreateFileSystem")
def create_file_system(call: ApiCall) -> dict[str, Any]:
    """Make a file system; the same client token returns the same one."""
    params, token = call.params, call.params.get("ClientRequestToken")
    for each in call.world.table(call.region, KIND).values():
        if token and each["_token"] == token:
            if each["_asked"] != _asked(params):
                raise AwsError(
                    "IncompatibleParameterError",
                    "The same client token was used with other parameters.",
                    fields={"Parameter": "ClientRequestToken"},
                )
            return {"FileSystem": shown(each)}
    lustre = dict(params.get("LustreConfiguration") or {})
    kind, storage = lustre.get("DeploymentType") or "SCRATCH_1", params.get("StorageType") or "SSD"
    capacity = int(params.get("StorageCapacity") or 0)
    backend = get_backend("ec2")[ACCOUNT_ID][call.region]
    subnet = find_subnet(backend, params["SubnetIds"][0])
    identifier = new_id("fs")
    record: dict[str, Any] = {
        "OwnerId": ACCOUNT_ID,
        "CreationTime": call.world.now(),
        "FileSystemId": identifier,
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": params.get("FileSystemTypeVersion") or ("2.10" if kind in ("SCRATCH_1",) else "2.15"),
        "Lifecycle": "CREATING",
        "StorageCapacity": capacity,
        "StorageType": storage,
        "VpcId": subnet.vpc_id,
        "SubnetIds": [subnet.id],
        "NetworkInterfaceIds": _make_interfaces(
            backend, subnet, identifier, params.get("SecurityGroupIds") or [], capacity, kind
        ),
        "DNSName": f"{identifier}.fsx.{call.region}.amazonaws.com",
        "KmsKeyId": params.get("KmsKeyId")
        or (
            arn("kms", call.region, "key/" + "0" * 8 + "-0000-0000-0000-" + "0" * 12)
            if kind.startswith("PERSISTENT")
            else None
        ),
        "ResourceARN": arn("fsx", call.region, f"file-system/{identifier}"),
        "Tags": [dict(each) for each in params.get("Tags") or []],
        "LustreConfiguration": _described(lustre, kind, storage, capacity),
        "NetworkType": params.get("NetworkType") or "IPV4",
        "AdministrativeActions": [],
        "_token": token,
        "_asked": _asked(params),
        "_changed_at": None,
    }
    faults = call.environ.get("gpukit.faults")
    record["_ready_at"] = call.world.now() + timedelta(
        seconds=faults.creation_seconds(call.action_name) if faults else 0
    )
    call.world.table(call.region, KIND)[identifier] = record
    return {"FileSystem": shown(record)}


@action("fsx", "DescribeFileSystems")
def describe_file_systems(call: ApiCall) -> dict[str, Any]:
    """Return file systems."""
    wanted = call.params.get("FileSystemIds")
    identifiers = wanted or list(call.world.table(call.region, KIND))
    return {"FileSystems": [shown(find_file_system(call.world, call.region, each)) for each in identifiers]}


@action("fsx", "UpdateFileSystem")
def update_file_system(call: ApiCall) -> dict[str, Any]:
    """
    Change a file system: capacity up only, throughput tier up or down, metadata IOPS up only.

    Source: FSx API reference, UpdateFileSystem; FSx for Lustre User Guide, managing storage and throughput capacity: six hours between changes.
    """
    params = call.params
    record = find_file_system(call.world, call.region, params["FileSystemId"])
    if record["Lifecycle"] not in ("AVAILABLE", "UPDATING"):
        raise bad(f"The file system is {record['Lifecycle']}, not AVAILABLE.")
    lustre, wanted = record["LustreConfiguration"], dict(params.get("LustreConfiguration") or {})
    heavy = _check_changes(call, record, params, wanted)
    if (
        heavy
        and record["_changed_at"]
        and call.world.now() - record["_changed_at"] < timedelta(hours=HOURS_BETWEEN_CHANGES)
    ):
        raise bad(f"Storage and throughput can be changed again {HOURS_BETWEEN_CHANGES} hours after the last change.")
    if params.get("StorageCapacity"):
        record["StorageCapacity"] = int(params["StorageCapacity"])
        metadata = lustre.get("MetadataConfiguration")
        if metadata and metadata["Mode"] == "AUTOMATIC":
            metadata["Iops"] = fsx_rules.automatic_metadata_iops(record["StorageCapacity"])
    if wanted.get("MetadataConfiguration"):
        mode = wanted["MetadataConfiguration"].get("Mode") or lustre["MetadataConfiguration"]["Mode"]
        iops = wanted["MetadataConfiguration"].get("Iops") or fsx_rules.automatic_metadata_iops(
            record["StorageCapacity"]
        )
        lustre["MetadataConfiguration"] = {"Mode": mode, "Iops": iops}
    for name in (
        "WeeklyMaintenanceStartTime",
        "DailyAutomaticBackupStartTime",
        "AutomaticBackupRetentionDays",
        "DataCompressionType",
        "LogConfiguration",
        "RootSquashConfiguration",
        "PerUnitStorageThroughput",
        "ThroughputCapacity",
        "DataReadCacheConfiguration",
    ):
        if wanted.get(name) is not None:
            lustre[name] = wanted[name]
    if params.get("FileSystemTypeVersion"):
        record["FileSystemTypeVersion"] = params["FileSystemTypeVersion"]
    if heavy:
        record["_changed_at"] = call.world.now()
        record["AdministrativeActions"] = [
            {
                "AdministrativeActionType": "FILE_SYSTEM_UPDATE",
                "Status": "COMPLETED",
                "RequestTime": call.world.now(),
                "ProgressPercent": 100,
            }
        ]
    return {"FileSystem": shown(record)}


@action("fsx", "DeleteFileSystem")
def delete_file_system(call: ApiCall) -> dict[str, Any]:
    """Delete a file system with its interfaces and associations."""
    record = find_file_system(call.world, call.region, call.params["FileSystemId"])
    if record["Lifecycle"] == "CREATING":
        raise bad("The file system is being created and cannot be deleted yet.")
    backend = get_backend("ec2")[ACCOUNT_ID][call.region]
    for identifier in record["NetworkInterfaceIds"]:
        backend.enis.pop(identifier, None)
    from gpukit_sandbox.cloud.fsx_associations import KIND as ASSOCIATIONS

    associations = call.world.table(call.region, ASSOCIATIONS)
    for key in [key for key, each in associations.items() if each["FileSystemId"] == record["FileSystemId"]]:
        del associations[key]
    del call.world.table(call.region, KIND)[record["FileSystemId"]]
    return {"FileSystemId": record["FileSystemId"], "Lifecycle": "DELETING"}


def shown(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as FSx describes it."""
    return {key: value for key, value in record.items() if not key.startswith("_") and value is not None}


def _check_changes(
    call: ApiCall, record: Mapping[str, Any], params: Mapping[str, Any], wanted: Mapping[str, Any]
) -> bool:
    """Refuse what cannot be changed, and tell whether storage or throughput changes."""
    lustre = record["LustreConfiguration"]
    kind, storage = lustre["DeploymentType"], record["StorageType"]
    capacity, throughput = params.get("StorageCapacity"), wanted.get("PerUnitStorageThroughput")
    if not wanted and capacity is None and not params.get("FileSystemTypeVersion") and not params.get("StorageType"):
        raise bad("No changes were specified.")
    if params.get("StorageType"):
        raise bad("The storage type of a Lustre file system cannot be changed.")
    if capacity is not None:
        if kind == "SCRATCH_1" or storage == "HDD":
            raise bad(f"The capacity of {kind} with {storage} storage cannot be changed.")
        if int(capacity) <= record["StorageCapacity"]:
            raise bad(f"StorageCapacity can only be increased: it is {record['StorageCapacity']} GiB.")
        fsx_rules.check_capacity(kind, storage, int(capacity), lustre)
        require_capacity(call, kind, storage, int(capacity) - record["StorageCapacity"])
    if throughput is not None:
        if lustre.get("EfaEnabled"):
            raise bad("The throughput tier of an EFA-enabled file system cannot be changed.")
        if int(throughput) == lustre["PerUnitStorageThroughput"]:
            raise bad(f"PerUnitStorageThroughput is {throughput} already.")
        if capacity is not None:
            raise bad("StorageCapacity and PerUnitStorageThroughput cannot be changed in one request.")
    metadata = wanted.get("MetadataConfiguration")
    if metadata:
        current = lustre.get("MetadataConfiguration")
        if current is None:
            raise bad("The file system was created without a MetadataConfiguration: it cannot be added.")
        merged = {"Mode": metadata.get("Mode") or current["Mode"], "Iops": metadata.get("Iops")}
        fsx_rules.check_metadata(
            kind,
            storage,
            int(capacity or record["StorageCapacity"]),
            {key: value for key, value in merged.items() if value is not None},
        )
        if merged["Iops"] is not None and int(merged["Iops"]) < int(current.get("Iops") or 0):
            raise bad("Metadata Iops can only be increased.")
    if kind.startswith("SCRATCH") and (
        wanted.get("AutomaticBackupRetentionDays") or wanted.get("DailyAutomaticBackupStartTime")
    ):
        raise bad(f"{kind} has no backups.")
    merged_backups = {**lustre, **wanted}
    fsx_rules.check_backups(merged_backups if wanted.get("DailyAutomaticBackupStartTime") else {})
    fsx_rules.check_squash(wanted.get("RootSquashConfiguration"))
    fsx_rules.check_log(wanted.get("LogConfiguration"))
    version = params.get("FileSystemTypeVersion")
    newer = fsx_rules.VERSIONS[fsx_rules.VERSIONS.index(record["FileSystemTypeVersion"]) + 1 :]
    if version is not None and version not in newer:
        raise bad(f"FileSystemTypeVersion can only be raised, from {record['FileSystemTypeVersion']}.")
    return capacity is not None or throughput is not None or bool(metadata)


@rule("fsx", "UpdateFileSystem", source="FSx API reference, UpdateFileSystem: PerUnitStorageThroughput, errors")
def new_throughput_is_one_of_the_tiers(call: ApiCall) -> None:
    """A throughput per TiB that the deployment type has; a BadRequest, where CreateFileSystem has a code of its own."""
    throughput = (call.params.get("LustreConfiguration") or {}).get("PerUnitStorageThroughput")
    if throughput is None:
        return
    record = find_file_system(call.world, call.region, call.params["FileSystemId"])
    kind, storage = record["LustreConfiguration"]["DeploymentType"], record["StorageType"]
    if kind.startswith("SCRATCH") or storage != "SSD":
        raise bad(f"The throughput of {kind} with {storage} storage cannot be changed.")
    fsx_rules.check_throughput_value(kind, storage, int(throughput), code="BadRequest")


@rule(
    "fsx",
    "UpdateFileSystem",
    source="FSx API reference, UpdateFileSystemLustreConfiguration: ThroughputCapacity, DataReadCacheConfiguration",
)
def elastic_throughput_only_grows(call: ApiCall) -> None:
    """Throughput capacity and read cache of Intelligent-Tiering alone; the capacity in steps and up."""
    wanted = call.params.get("LustreConfiguration") or {}
    throughput, cache = wanted.get("ThroughputCapacity"), wanted.get("DataReadCacheConfiguration")
    if throughput is None and cache is None:
        return
    record = find_file_system(call.world, call.region, call.params["FileSystemId"])
    lustre = record["LustreConfiguration"]
    if record["StorageType"] != "INTELLIGENT_TIERING":
        raise bad(
            "ThroughputCapacity and DataReadCacheConfiguration are valid only when StorageType is INTELLIGENT_TIERING."
        )
    if throughput is not None:
        if int(throughput) % fsx_rules.THROUGHPUT_CAPACITY_STEP:
            raise bad(f"ThroughputCapacity must be a multiple of {fsx_rules.THROUGHPUT_CAPACITY_STEP} MB/s.")
        if int(throughput) <= int(lustre["ThroughputCapacity"]):
            raise bad(f"ThroughputCapacity can only be increased: it is {lustre['ThroughputCapacity']} MB/s.")
    if cache is not None:
        fsx_rules.check_read_cache(cache, int(throughput or lustre["ThroughputCapacity"]))


def _described(lustre: Mapping[str, Any], kind: str, storage: str, capacity: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "DeploymentType": kind,
        "WeeklyMaintenanceStartTime": lustre.get("WeeklyMaintenanceStartTime") or "7:05:00",
        "MountName": "fsx"
        if kind == "SCRATCH_1"
        else "".join(random.choices(string.ascii_lowercase + string.digits, k=8)),
        "DataCompressionType": lustre.get("DataCompressionType") or "NONE",
        "LogConfiguration": lustre.get("LogConfiguration") or {"Level": "DISABLED"},
        "CopyTagsToBackups": bool(lustre.get("CopyTagsToBackups")),
    }
    if kind.startswith("PERSISTENT"):
        described["AutomaticBackupRetentionDays"] = int(lustre.get("AutomaticBackupRetentionDays") or 0)
    for name in (
        "PerUnitStorageThroughput",
        "DailyAutomaticBackupStartTime",
        "DriveCacheType",
        "RootSquashConfiguration",
        "ThroughputCapacity",
        "DataReadCacheConfiguration",
    ):
        if lustre.get(name) is not None:
            described[name] = lustre[name]
    if kind == "PERSISTENT_2":
        described["EfaEnabled"] = bool(lustre.get("EfaEnabled"))
        metadata = lustre.get("MetadataConfiguration")
        if metadata:
            described["MetadataConfiguration"] = {
                "Mode": metadata["Mode"],
                "Iops": int(metadata.get("Iops") or fsx_rules.automatic_metadata_iops(capacity)),
            }
    if lustre.get("ImportPath"):
        described["DataRepositoryConfiguration"] = {
            "Lifecycle": "AVAILABLE",
            "ImportPath": lustre["ImportPath"],
            "ExportPath": lustre.get("ExportPath") or lustre["ImportPath"],
            "ImportedFileChunkSize": int(lustre.get("ImportedFileChunkSize") or 1024),
            "AutoImportPolicy": lustre.get("AutoImportPolicy") or "NONE",
        }
    return described


def _make_interfaces(
    backend: Any, subnet: Any, identifier: str, group_ids: Sequence[str], capacity: int, kind: str
) -> list[str]:
    """Lay the servers' interfaces into the subnet: one a started 2,400 GiB, and with PERSISTENT_2 one for the metadata. The number is an estimate."""
    count = max(1, math.ceil(capacity / GIB_PER_SERVER)) + (1 if kind == "PERSISTENT_2" else 0)
    groups = _groups(backend, subnet, group_ids)
    addresses = free_addresses(backend, subnet)
    try:
        drawn = [require_address(addresses, subnet) for _ in range(count)]
    except AwsError as problem:
        raise AwsError(
            "InvalidNetworkSettings",
            f"The subnet {subnet.id} has no {count} free IP addresses.",
            fields={"InvalidSubnetId": subnet.id},
        ) from problem
    made = []
    for address in drawn:
        interface = CardInterface(
            backend,
            subnet,
            address=address,
            groups=groups,
            settings={"Description": f"Created by Amazon FSx for file system {identifier}"},
            hostnames=False,
        )
        interface.requester_managed, interface.requester_id, interface.status = True, "amazon-fsx", "in-use"
        backend.enis[interface.id] = interface
        made.append(interface.id)
    return made


def _groups(backend: Any, subnet: Any, identifiers: Sequence[str]) -> list[Any]:
    if not identifiers:
        default = backend.get_default_security_group(subnet.vpc_id)
        return [default] if default else []
    found = []
    for identifier in identifiers:
        group = backend.get_security_group_from_id(identifier)
        if group is None or group.vpc_id != subnet.vpc_id:
            raise AwsError(
                "InvalidNetworkSettings",
                f"The security group '{identifier}' does not exist in the VPC of the subnet.",
                fields={"InvalidSecurityGroupId": identifier},
            )
        found.append(group)
    return found


def _lets_in(group: Any, identifiers: set[str], ranges: Sequence[Any], port: int) -> bool:
    return any(_covers(each, identifiers, ranges, port) for each in group.ingress_rules)


def _lets_out(group: Any, identifiers: set[str], ranges: Sequence[Any], port: int) -> bool:
    return any(_covers(each, identifiers, ranges, port) for each in group.egress_rules)


def _covers(permission: Any, identifiers: set[str], ranges: Sequence[Any], port: int) -> bool:
    if str(permission.ip_protocol) not in ("-1", "tcp", "6"):
        return False
    if (
        str(permission.ip_protocol) != "-1"
        and permission.from_port is not None
        and not int(permission.from_port) <= port <= int(permission.to_port)
    ):
        return False
    return _names(permission, identifiers) or any(
        all(each.subnet_of(ipaddress.ip_network(text)) for each in ranges) for text in _blocks(permission)
    )


def _lets_all(permissions: Sequence[Any], identifiers: set[str]) -> bool:
    # Ranges of addresses do not count for EFA: the rule has to name the group. Source: FSx for Lustre User Guide, EFA-enabled file systems.
    return any(str(each.ip_protocol) == "-1" and _names(each, identifiers) for each in permissions)


def _names(permission: Any, identifiers: set[str]) -> bool:
    return permission.source_group.get("GroupId") in identifiers


def _blocks(permission: Any) -> list[str]:
    text = permission.ip_range.get("CidrIp") or ""
    return [text] if re.fullmatch(r"[\d.]+/\d+", text) else []


def _asked(params: Mapping[str, Any]) -> str:
    return repr(sorted((key, repr(value)) for key, value in params.items() if key != "ClientRequestToken"))
