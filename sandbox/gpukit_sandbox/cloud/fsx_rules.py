"""
What FSx for Lustre takes: capacities, throughput, metadata IOPS, EFA, and which settings go with which deployment type.

Every number stands in a table here with its source; the functions below only look them up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpukit_sandbox.cloud.errors import AwsError

LUSTRE_SOURCE: Final = "FSx API reference, CreateFileSystem and CreateFileSystemLustreConfiguration; FSx for Lustre User Guide; facts storage.csv"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """The capacities of one kind of file system, in GiB: some single ones, then the multiples of a step."""

    first: tuple[int, ...]
    step: int

    def takes(self, gib: int) -> bool:
        """Tell whether a capacity is one of these."""
        return gib in self.first or (gib > 0 and gib % self.step == 0)

    def __str__(self) -> str:
        """Return the rule in words."""
        return ", ".join([*(str(each) for each in self.first), f"multiples of {self.step}"])


SCRATCH_1: Final = Capacity(first=(1_200, 2_400), step=3_600)
SSD: Final = Capacity(first=(1_200,), step=2_400)
HDD_BY_THROUGHPUT: Final = {12: Capacity(first=(), step=6_000), 40: Capacity(first=(), step=1_800)}
EFA_BY_THROUGHPUT: Final = {
    125: Capacity(first=(), step=38_400),
    250: Capacity(first=(), step=19_200),
    500: Capacity(first=(), step=9_600),
    1_000: Capacity(first=(), step=4_800),
}
THROUGHPUTS: Final = {
    ("PERSISTENT_1", "SSD"): (50, 100, 200),
    ("PERSISTENT_1", "HDD"): (12, 40),
    ("PERSISTENT_2", "SSD"): (125, 250, 500, 1_000),
}
"""MB/s per TiB. Source: botocore fsx model, PerUnitStorageThroughput."""
METADATA_IOPS: Final = (1_500, 3_000, 6_000, 12_000)
METADATA_IOPS_STEP: Final = 12_000
MAX_METADATA_IOPS: Final = 192_000
THROUGHPUT_CAPACITY_STEP: Final = 4_000
READ_CACHE_GIB_PER_STEP: Final = (32, 131_072)
VERSIONS: Final = ("2.10", "2.12", "2.15")
STORAGE_QUOTAS: Final = {
    "SCRATCH_1": "scratch-cap",
    "SCRATCH_2": "scratch-cap",
    "PERSISTENT_1": "p1-cap",
    "PERSISTENT_2": "p2-cap",
}
COUNT_QUOTAS: Final = {"SCRATCH_1": "scratch-fs", "SCRATCH_2": "scratch-fs", "PERSISTENT_2": "p2-fs"}


def bad(message: str) -> AwsError:
    """Return FSx's refusal of a request."""
    return AwsError("BadRequest", message)


def automatic_metadata_iops(gib: int) -> int:
    """Return the metadata IOPS that AUTOMATIC gives a PERSISTENT_2 SSD file system. Source: facts fsx_metadata_iops.csv."""
    if gib <= 1_200:
        return 1_500
    if gib <= 2_400:
        return 3_000
    if gib <= 9_600:
        return 6_000
    if gib < 48_000:
        return 12_000
    return 12_000 * (gib // 24_000)


def check_lustre(
    capacity: int | None, storage: str, lustre: Mapping[str, Any], *, version: str | None, kms_key: str | None
) -> None:
    """Refuse a combination that Lustre does not take. Raises BadRequest, InvalidPerUnitStorageThroughput, Invalid{Import,Export}Path."""
    kind = lustre.get("DeploymentType") or "SCRATCH_1"
    _check_storage_type(kind, storage, lustre)
    _check_throughput(kind, storage, lustre)
    check_capacity(kind, storage, capacity, lustre)
    check_metadata(kind, storage, capacity, lustre.get("MetadataConfiguration"))
    _check_efa(kind, storage, lustre)
    _check_version(kind, lustre, version)
    _check_scratch(kind, lustre, kms_key)
    _check_import(kind, lustre)
    check_backups(lustre)
    check_squash(lustre.get("RootSquashConfiguration"))
    check_log(lustre.get("LogConfiguration"))


def _check_storage_type(kind: str, storage: str, lustre: Mapping[str, Any]) -> None:
    if storage == "HDD" and kind != "PERSISTENT_1":
        raise bad(f"StorageType HDD is supported by PERSISTENT_1 only, not by {kind}.")
    if storage == "INTELLIGENT_TIERING" and kind != "PERSISTENT_2":
        raise bad(f"StorageType INTELLIGENT_TIERING is supported by PERSISTENT_2 only, not by {kind}.")
    if storage == "HDD" and not lustre.get("DriveCacheType"):
        raise bad("DriveCacheType is required when StorageType is HDD.")
    if storage != "HDD" and lustre.get("DriveCacheType"):
        raise bad("DriveCacheType is valid only when StorageType is HDD.")
    if storage == "INTELLIGENT_TIERING":
        throughput = lustre.get("ThroughputCapacity")
        if throughput is None:
            raise bad("ThroughputCapacity is required when StorageType is INTELLIGENT_TIERING.")
        if int(throughput) % THROUGHPUT_CAPACITY_STEP:
            raise bad(f"ThroughputCapacity must be a multiple of {THROUGHPUT_CAPACITY_STEP} MB/s.")
        check_read_cache(lustre.get("DataReadCacheConfiguration"), int(throughput))
    elif lustre.get("ThroughputCapacity") is not None or lustre.get("DataReadCacheConfiguration"):
        raise bad(
            "ThroughputCapacity and DataReadCacheConfiguration are valid only when StorageType is INTELLIGENT_TIERING."
        )


def check_read_cache(cache: Mapping[str, Any] | None, throughput: int) -> None:
    """Refuse a read cache without a mode, or of a size that the throughput does not take."""
    if not cache or not cache.get("SizingMode"):
        raise bad("DataReadCacheConfiguration with a SizingMode is required when StorageType is INTELLIGENT_TIERING.")
    size = cache.get("SizeGiB")
    if (cache["SizingMode"] == "USER_PROVISIONED") != (size is not None):
        raise bad("SizeGiB is required with SizingMode USER_PROVISIONED and with no other.")
    if size is not None:
        steps = throughput // THROUGHPUT_CAPACITY_STEP
        low, high = READ_CACHE_GIB_PER_STEP[0] * steps, READ_CACHE_GIB_PER_STEP[1] * steps
        if not low <= int(size) <= high:
            raise bad(f"SizeGiB must be between {low} and {high} at {throughput} MB/s.")


def _check_throughput(kind: str, storage: str, lustre: Mapping[str, Any]) -> None:
    value = lustre.get("PerUnitStorageThroughput")
    if kind.startswith("SCRATCH"):
        if value is not None:
            raise bad(f"PerUnitStorageThroughput is valid only for persistent deployment types, not for {kind}.")
        return
    if storage == "INTELLIGENT_TIERING":
        if value is not None:
            raise bad("PerUnitStorageThroughput is not valid when StorageType is INTELLIGENT_TIERING.")
        return
    if value is None:
        raise bad(f"PerUnitStorageThroughput is required for {kind}.")
    check_throughput_value(kind, storage, int(value))


def check_throughput_value(
    kind: str, storage: str, value: int, *, code: str = "InvalidPerUnitStorageThroughput"
) -> None:
    """Refuse a throughput per TiB that a deployment type does not have; `code` is the one that the action has for it."""
    if value not in THROUGHPUTS[(kind, storage)]:
        raise AwsError(
            code,
            f"PerUnitStorageThroughput {value} is not valid for {kind} with {storage} storage: {', '.join(map(str, THROUGHPUTS[(kind, storage)]))} are.",
        )


def check_capacity(kind: str, storage: str, capacity: int | None, lustre: Mapping[str, Any]) -> None:
    """Refuse a capacity between the steps of a kind of file system."""
    if storage == "INTELLIGENT_TIERING":
        if capacity:
            raise bad("StorageCapacity may not be specified when StorageType is INTELLIGENT_TIERING.")
        return
    if not capacity:
        raise bad("StorageCapacity is required.")
    rule = capacity_rule(kind, storage, lustre)
    if not rule.takes(capacity):
        efa = " with EFA" if lustre.get("EfaEnabled") else ""
        raise bad(f"StorageCapacity {capacity} GiB is not valid for {kind} with {storage} storage{efa}: {rule} are.")


def capacity_rule(kind: str, storage: str, lustre: Mapping[str, Any]) -> Capacity:
    """Return the capacities that a kind of file system takes."""
    throughput = int(lustre.get("PerUnitStorageThroughput") or 0)
    if kind == "SCRATCH_1":
        return SCRATCH_1
    if storage == "HDD":
        return HDD_BY_THROUGHPUT[throughput]
    if kind == "PERSISTENT_2" and lustre.get("EfaEnabled"):
        return EFA_BY_THROUGHPUT[throughput]
    return SSD


def check_metadata(kind: str, storage: str, capacity: int | None, metadata: Mapping[str, Any] | None) -> None:
    """Refuse metadata IOPS that are none of the steps, below what AUTOMATIC gives, or given with AUTOMATIC."""
    if not metadata:
        return
    if kind != "PERSISTENT_2":
        raise bad(f"MetadataConfiguration is supported by PERSISTENT_2 only, not by {kind}.")
    mode, iops = metadata.get("Mode"), metadata.get("Iops")
    if mode == "AUTOMATIC" and iops is not None:
        raise bad("Iops may not be specified when the metadata mode is AUTOMATIC.")
    if mode == "USER_PROVISIONED" and iops is None:
        raise bad("Iops is required when the metadata mode is USER_PROVISIONED.")
    if iops is None:
        return
    if int(iops) not in METADATA_IOPS and (int(iops) % METADATA_IOPS_STEP or int(iops) > MAX_METADATA_IOPS):
        raise bad(
            f"Metadata Iops {iops} is not valid: {', '.join(map(str, METADATA_IOPS))} and multiples of {METADATA_IOPS_STEP} up to {MAX_METADATA_IOPS} are."
        )
    if storage == "SSD" and capacity and int(iops) < automatic_metadata_iops(capacity):
        raise bad(
            f"Metadata Iops {iops} is below the {automatic_metadata_iops(capacity)} that AUTOMATIC gives {capacity} GiB."
        )


def _check_efa(kind: str, storage: str, lustre: Mapping[str, Any]) -> None:
    if not lustre.get("EfaEnabled"):
        return
    if kind != "PERSISTENT_2":
        raise bad(f"EfaEnabled is supported by PERSISTENT_2 only, not by {kind}.")
    if storage == "SSD" and not lustre.get("MetadataConfiguration"):
        raise bad("EfaEnabled needs a MetadataConfiguration.")


def _check_version(kind: str, lustre: Mapping[str, Any], version: str | None) -> None:
    if version is None:
        return
    if version not in VERSIONS:
        raise bad(f"FileSystemTypeVersion {version} is not valid for Lustre: {', '.join(VERSIONS)} are.")
    if kind == "PERSISTENT_2" and version == "2.10":
        raise bad("PERSISTENT_2 needs FileSystemTypeVersion 2.12 or 2.15.")
    if kind == "SCRATCH_1" and version != "2.10":
        raise bad("SCRATCH_1 supports FileSystemTypeVersion 2.10 only.")
    if lustre.get("EfaEnabled") and version != "2.15":
        raise bad("EfaEnabled needs FileSystemTypeVersion 2.15.")
    if lustre.get("MetadataConfiguration") and version == "2.12":
        raise bad("MetadataConfiguration needs FileSystemTypeVersion 2.15.")


def _check_scratch(kind: str, lustre: Mapping[str, Any], kms_key: str | None) -> None:
    if not kind.startswith("SCRATCH"):
        return
    if kms_key:
        raise bad(f"KmsKeyId is valid only for persistent deployment types, not for {kind}.")
    for name in ("AutomaticBackupRetentionDays", "DailyAutomaticBackupStartTime", "CopyTagsToBackups"):
        if lustre.get(name):
            raise bad(f"{name} is valid only for persistent deployment types: {kind} has no backups.")


def _check_import(kind: str, lustre: Mapping[str, Any]) -> None:
    given = [
        name
        for name in ("ImportPath", "ExportPath", "ImportedFileChunkSize", "AutoImportPolicy")
        if lustre.get(name) is not None
    ]
    if given and kind == "PERSISTENT_2":
        raise bad(f"{', '.join(given)} are not supported by PERSISTENT_2: use a data repository association.")
    source, target = lustre.get("ImportPath"), lustre.get("ExportPath")
    if source is not None and not source.startswith("s3://"):
        raise AwsError("InvalidImportPath", f"ImportPath must look like s3://bucket/prefix: {source}")
    if target is not None:
        if source is None:
            raise bad("ExportPath needs an ImportPath.")
        if not target.startswith("s3://") or target.split("/")[2] != source.split("/")[2]:
            raise AwsError("InvalidExportPath", "ExportPath must be in the bucket of ImportPath.")
    if source is None and (
        lustre.get("ImportedFileChunkSize") is not None or lustre.get("AutoImportPolicy") not in (None, "NONE")
    ):
        raise bad("ImportedFileChunkSize and AutoImportPolicy need an ImportPath.")
    if lustre.get("ImportPath") and lustre.get("AutomaticBackupRetentionDays"):
        raise bad("File systems linked to a data repository have no automatic backups.")


def check_backups(lustre: Mapping[str, Any]) -> None:
    """Refuse a time of daily backups without any kept."""
    if lustre.get("DailyAutomaticBackupStartTime") and not lustre.get("AutomaticBackupRetentionDays"):
        raise bad("DailyAutomaticBackupStartTime needs AutomaticBackupRetentionDays above 0.")


def check_squash(squash: Mapping[str, Any] | None) -> None:
    """Refuse exempt clients without a squash, and a squash that is no pair of ids."""
    if squash and squash.get("NoSquashNids") and not squash.get("RootSquash"):
        raise bad("NoSquashNids needs RootSquash.")


def check_log(log: Mapping[str, Any] | None) -> None:
    """Refuse a log destination that is no log group or stream of /aws/fsx."""
    if not log or not log.get("Destination"):
        return
    parts = str(log["Destination"]).split(":")
    if len(parts) < 7 or parts[2] not in ("logs", "firehose"):
        raise bad("The log destination must be a CloudWatch Logs log group.")
    if log.get("Level") == "DISABLED":
        raise bad("A log destination may not be given with the level DISABLED.")
    if not parts[6].startswith("/aws/fsx"):
        raise bad("The name of the log group must begin with /aws/fsx.")
