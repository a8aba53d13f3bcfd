"""Lustre, EFS and S3: sized by the plan, private, encrypted, and kept."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plans
import pytest
from gpukit_components.storage import StorageBuild, TrainingStorage
from recorder import Recorder

BUILD = StorageBuild(
    stores=plans.STORES,
    region="us-east-1",
    tags=plans.TAGS,
    protect=True,
    vpc_id="vpc-1",
    subnet_by_zone={plans.ZONE: "subnet-gpu", "us-east-1b": "subnet-b"},
    efa_security_group_id="sg-efa",
)
HOLDS_DATA = (
    "Key",
    "Alias",
    "Bucket",
    "BucketPublicAccessBlock",
    "BucketVersioning",
    "BucketServerSideEncryptionConfiguration",
    "BucketLifecycleConfiguration",
    "BucketPolicy",
    "LustreFileSystem",
    "DataRepositoryAssociation",
    "FileSystem",
    "MountTarget",
)


def _build(recorded: Callable[..., Recorder], **changes: Any) -> Recorder:
    return recorded(lambda: TrainingStorage.from_plan("ml", replace(BUILD, **changes)))


@pytest.mark.parametrize("protect", [True, False], ids=["protected", "free"])
def test_everything_that_holds_data_says_explicitly_whether_it_is_kept(
    recorded: Callable[..., Recorder], protect: bool
) -> None:
    stores = tuple(replace(store, protect=protect) for store in plans.STORES)
    made = _build(recorded, stores=stores, protect=protect)

    for kind in HOLDS_DATA:
        for resource in made.of(kind):
            assert (resource.protect, resource.retain_on_delete) == (protect, protect), resource.type
    assert {resource.short for resource in made.resources} == {*HOLDS_DATA, "TrainingStorage", "SecurityGroup"}


def test_key_lives_as_long_as_the_longest_lived_store(recorded: Callable[..., Recorder]) -> None:
    free = replace(plans.STORES[1], protect=False)
    made = _build(recorded, stores=(free, plans.STORES[2]), protect=True)

    assert made.one("Key").protect is True
    assert made.one("Bucket").protect is False
    assert made.one("FileSystem").protect is True


def test_lustre_is_persistent_encrypted_with_efa_and_metadata_as_planned(recorded: Callable[..., Recorder]) -> None:
    lustre = _build(recorded).one("LustreFileSystem").inputs

    assert lustre["deploymentType"] == "PERSISTENT_2"
    assert lustre["storageCapacity"] == 38_400
    assert lustre["perUnitStorageThroughput"] == 500
    assert lustre["efaEnabled"] is True
    assert lustre["metadataConfiguration"] == {"mode": "USER_PROVISIONED", "iops": 12_000}
    assert lustre["kmsKeyId"] == "arn:aws:mock:us-east-1:111122223333:ml-data-key"
    assert lustre["subnetIds"] == "subnet-gpu"


def test_lustre_with_efa_stands_in_the_efa_group_too(recorded: Callable[..., Recorder]) -> None:
    assert _build(recorded).one("LustreFileSystem").inputs["securityGroupIds"] == ["ml-file-systems-id", "sg-efa"]


def test_lustre_without_efa_asks_for_none(recorded: Callable[..., Recorder]) -> None:
    lustre = _build(recorded, stores=(replace(plans.LUSTRE, efa=False, data_repository=None),))

    inputs = lustre.one("LustreFileSystem").inputs
    assert "efaEnabled" not in inputs
    assert inputs["securityGroupIds"] == ["ml-file-systems-id"]


def test_lustre_ports_are_open_among_members_in_both_directions(recorded: Callable[..., Recorder]) -> None:
    group = _build(recorded, stores=(plans.LUSTRE, plans.STORES[1])).one("SecurityGroup").inputs

    for direction in ("ingress", "egress"):
        assert [(rule["fromPort"], rule["toPort"], rule["self"]) for rule in group[direction]] == [
            (988, 988, True),
            (1018, 1023, True),
        ]


def test_all_kinds_share_one_client_group(recorded: Callable[..., Recorder]) -> None:
    """EC2 takes five security groups an interface, and nodes carry three others already."""
    group = _build(recorded).one("SecurityGroup").inputs

    assert [rule["fromPort"] for rule in group["ingress"]] == [2049, 988, 1018]


def test_data_repository_imports_and_exports_every_change(recorded: Callable[..., Recorder]) -> None:
    link = _build(recorded).one("DataRepositoryAssociation").inputs

    assert link["dataRepositoryPath"] == "s3://ml-data-id"
    assert link["fileSystemPath"] == "/data"
    for policy in ("autoImportPolicy", "autoExportPolicy"):
        assert link["s3"][policy]["events"] == ["NEW", "CHANGED", "DELETED"]


def test_automatic_backups_are_asked_for_only_without_a_data_repository(recorded: Callable[..., Recorder]) -> None:
    """FSx takes no backups of a file system that is linked to a bucket."""
    linked = _build(recorded, stores=(replace(plans.LUSTRE, backup_days=7), plans.STORES[1]))
    alone = _build(recorded, stores=(replace(plans.LUSTRE, backup_days=7, data_repository=None),))

    assert "automaticBackupRetentionDays" not in linked.one("LustreFileSystem").inputs
    assert alone.one("LustreFileSystem").inputs["automaticBackupRetentionDays"] == 7


def test_bucket_is_private_versioned_encrypted_and_takes_tls_only(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    block = made.one("BucketPublicAccessBlock").inputs
    assert all(block[key] for key in block if key != "bucket")
    assert made.one("BucketVersioning").inputs["versioningConfiguration"] == {"status": "Enabled"}
    (rule,) = made.one("BucketServerSideEncryptionConfiguration").inputs["rules"]
    assert rule["applyServerSideEncryptionByDefault"]["sseAlgorithm"] == "aws:kms"
    (statement,) = json.loads(made.one("BucketPolicy").inputs["policy"])["Statement"]
    assert (statement["Effect"], statement["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert made.one("Bucket").inputs["forceDestroy"] is False


def test_efs_is_encrypted_and_has_one_mount_target_a_zone(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    assert made.one("FileSystem").inputs["encrypted"] is True
    assert sorted(target.inputs["subnetId"] for target in made.of("MountTarget")) == ["subnet-b", "subnet-gpu"]


def test_existing_stores_are_referred_to_and_nothing_is_made(recorded: Callable[..., Recorder]) -> None:
    stores = (
        plans.store("fast", "lustre", existing_id="fs-0123456789abcdef0"),
        plans.store("data", "s3", existing_id="our-data"),
    )
    seen: list[TrainingStorage] = []
    made = recorded(lambda: seen.append(TrainingStorage.from_plan("ml", replace(BUILD, stores=stores))))

    assert [resource.short for resource in made.resources] == ["TrainingStorage"]


def test_own_key_of_the_user_is_taken(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, kms_key_arn="arn:aws:kms:us-east-1:111122223333:key/1")

    assert made.of("Key") == []
    assert made.one("FileSystem").inputs["kmsKeyId"] == "arn:aws:kms:us-east-1:111122223333:key/1"
