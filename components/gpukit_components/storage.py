"""`TrainingStorage`: Lustre, EFS and S3 with one key, private and protected as the plan says."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import StoragePlan
from gpukit_components.encryption import make_encryption_key
from gpukit_components.identity import partition
from gpukit_components.security_groups import LUSTRE_PORTS, NFS_PORTS, make_member_ports_group

_PORTS = {"lustre": LUSTRE_PORTS, "efs": NFS_PORTS}
_REPOSITORY_EVENTS = ["NEW", "CHANGED", "DELETED"]


class StoreArgs(TypedDict):
    """One store."""

    kind: str
    """`lustre`, `efs` or `s3`."""
    role: NotRequired[str]
    """`home`, `scratch`, `datasets` or `checkpoints`."""
    mount_path: NotRequired[str]
    """Where nodes and pods see it."""
    gib: NotRequired[int]
    """Size in GiB; rounded up to a legal one."""
    throughput_tier: NotRequired[int]
    """Lustre: MB/s per TiB."""
    efa: NotRequired[bool]
    """Lustre: EFA on or off."""
    metadata_iops: NotRequired[int]
    """Lustre: metadata operations per second."""
    data_repository: NotRequired[str]
    """Lustre: name of the `s3` store that it imports from and exports to."""
    existing: NotRequired[str]
    """Use what is there: `fs-...` or a bucket name."""
    availability_zone: NotRequired[str]
    """Zone of the file system; the first of `subnet_ids` when left out."""
    backup_days: NotRequired[int]
    """Days that automatic backups are kept."""


class TrainingStorageArgs(TypedDict):
    """What storage is made from."""

    stores: dict[str, StoreArgs]
    """Name -> store."""
    vpc_id: NotRequired[pulumi.Input[str]]
    """Id of the VPC; needed for file systems."""
    subnet_ids: NotRequired[dict[str, pulumi.Input[str]]]
    """Availability zone -> id of a private subnet; needed for file systems."""
    efa_security_group_id: NotRequired[pulumi.Input[str]]
    """Group that lets EFA traffic through; needed for Lustre with EFA."""
    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""
    protect: NotRequired[bool]
    """Whether data outlives a destroy; true when left out."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """KMS key for the data; a protected key of its own when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags on everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageBuild:
    """Decided stores, and the ids they are placed by."""

    stores: tuple[StoragePlan, ...]
    region: str
    tags: Mapping[str, str]
    protect: bool
    """For the key, which must live as long as the longest-lived store."""
    vpc_id: pulumi.Input[str] | None = None
    subnet_by_zone: Mapping[str, pulumi.Input[str]] | None = None
    efa_security_group_id: pulumi.Input[str] | None = None
    kms_key_arn: pulumi.Input[str] | None = None


class TrainingStorage(pulumi.ComponentResource):
    """File systems and buckets for training: encrypted, private, and kept on destroy where the plan protects them."""

    file_system_ids: pulumi.Output[dict[str, str]]
    """Store name -> file system id."""
    mount_names: pulumi.Output[dict[str, str]]
    """Lustre store name -> mount name."""
    dns_names: pulumi.Output[dict[str, str]]
    """Store name -> DNS name of the file system."""
    mount_commands: pulumi.Output[dict[str, str]]
    """Store name -> command that mounts it on a node."""
    bucket_names: pulumi.Output[dict[str, str]]
    """Store name -> bucket name."""
    client_security_group_ids: pulumi.Output[list[str]]
    """Groups that a node needs to reach the file systems."""

    def __init__(
        self,
        name: str,
        args: TrainingStorageArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: StorageBuild | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_storage

            planned = plan_storage(name, args)
        super().__init__("gpukit:index:TrainingStorage", name, None, opts)
        self._name, self._planned = name, planned
        self._child = pulumi.ResourceOptions(parent=self)
        self._file_system_ids: dict[str, pulumi.Input[str]] = {}
        self._mount_names: dict[str, pulumi.Input[str]] = {}
        self._dns_names: dict[str, pulumi.Input[str]] = {}
        self._mounts: dict[str, pulumi.Input[str]] = {}
        self.buckets: dict[str, pulumi.Input[str]] = {}
        self.bucket_arns: dict[str, pulumi.Input[str]] = {}
        self.client_groups: list[pulumi.Input[str]] = []

        new = [store for store in planned.stores if store.existing_id is None]
        key_arn = planned.kms_key_arn
        if key_arn is None and any(store.kind in ("lustre", "efs", "s3") for store in new):
            key_arn = make_encryption_key(
                f"{name}-data",
                purpose="training data",
                region=planned.region,
                tags=planned.tags,
                # data whose key is gone is gone
                opts=self._kept(planned.protect),
            )
        for store in planned.stores:
            if store.existing_id is not None:
                self._refer_to(store)
        buckets = {store.name: self._make_bucket(store, key_arn) for store in new if store.kind == "s3"}
        file_systems = [store for store in new if store.kind in _PORTS]
        if file_systems:
            group = self._make_client_group({store.kind for store in file_systems})
            for store in file_systems:
                if store.kind == "lustre":
                    self._make_lustre(store, key_arn, group, buckets)
                else:
                    self._make_efs(store, key_arn, group)

        self.file_system_ids = pulumi.Output.all(**self._file_system_ids)
        self.mount_names = pulumi.Output.all(**self._mount_names)
        self.dns_names = pulumi.Output.all(**self._dns_names)
        self.mount_commands = pulumi.Output.all(**self._mounts)
        self.bucket_names = pulumi.Output.all(**self.buckets)
        self.client_security_group_ids = pulumi.Output.all(*self.client_groups)
        self.register_outputs(
            {
                "fileSystemIds": self.file_system_ids,
                "mountNames": self.mount_names,
                "dnsNames": self.dns_names,
                "mountCommands": self.mount_commands,
                "bucketNames": self.bucket_names,
                "clientSecurityGroupIds": self.client_security_group_ids,
            }
        )

    @classmethod
    def from_plan(cls, name: str, planned: StorageBuild, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Build what a plan has decided."""
        return cls(name, cast(TrainingStorageArgs, {}), opts, planned=planned)

    def _kept(self, protect: bool, depends_on: list[pulumi.Resource] | None = None) -> pulumi.ResourceOptions:
        # children do not inherit these two from their component in every SDK, so each says them itself
        return pulumi.ResourceOptions(parent=self, protect=protect, retain_on_delete=protect, depends_on=depends_on)

    def _tagged(self, store: StoragePlan) -> dict[str, str]:
        return {**self._planned.tags, "Name": f"{self._name}-{store.name}", "gpukit:role": store.role}

    def _refer_to(self, store: StoragePlan) -> None:
        assert store.existing_id is not None
        if store.kind == "s3":
            self.buckets[store.name] = store.existing_id
            self.bucket_arns[store.name] = pulumi.Output.format(
                "arn:{0}:s3:::{1}", partition(self._child), store.existing_id
            )
        elif store.kind in ("lustre", "efs"):
            self._file_system_ids[store.name] = store.existing_id

    def _make_client_group(self, kinds: set[str]) -> pulumi.Output[str]:
        """Create the one group of file systems and nodes; an interface takes five groups, so the kinds share it."""
        planned = self._planned
        if planned.vpc_id is None:
            raise pulumi.InputPropertyError("vpc_id", "file systems need the id of their VPC")
        group = make_member_ports_group(
            f"{self._name}-file-systems",
            description="File systems and their clients",
            ports=[ports for kind in sorted(kinds) for ports in _PORTS[kind]],
            vpc_id=planned.vpc_id,
            tags=planned.tags,
            opts=self._child,
        )
        self.client_groups.append(group.id)
        group_id: pulumi.Output[str] = group.id
        return group_id

    def _make_bucket(self, store: StoragePlan, key_arn: pulumi.Input[str] | None) -> Any:
        import pulumi_aws as aws

        kept, name = self._kept(store.protect), f"{self._name}-{store.name}"
        # a new bucket takes no access lists: S3 enforces the owner by itself
        bucket = aws.s3.Bucket(name, force_destroy=False, tags=self._tagged(store), opts=kept)
        closed = aws.s3.BucketPublicAccessBlock(
            name,
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=kept,
        )
        versioning = aws.s3.BucketVersioning(
            name, bucket=bucket.id, versioning_configuration={"status": "Enabled"}, opts=kept
        )
        aws.s3.BucketServerSideEncryptionConfiguration(
            name,
            bucket=bucket.id,
            rules=[
                {
                    "apply_server_side_encryption_by_default": {
                        "sse_algorithm": "aws:kms",
                        "kms_master_key_id": key_arn,
                    },
                    "bucket_key_enabled": True,
                }
            ],
            opts=kept,
        )
        aws.s3.BucketLifecycleConfiguration(
            name,
            bucket=bucket.id,
            rules=[
                {
                    "id": "forget-what-was-replaced",
                    "status": "Enabled",
                    "filter": {"prefix": ""},
                    "noncurrent_version_expiration": {"noncurrent_days": 30},
                    "abort_incomplete_multipart_upload": {"days_after_initiation": 7},
                }
            ],
            opts=self._kept(store.protect, [versioning]),
        )
        aws.s3.BucketPolicy(
            name,
            bucket=bucket.id,
            policy=pulumi.Output.json_dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Sid": "OnlyByTls",
                            "Effect": "Deny",
                            "Principal": "*",
                            "Action": "s3:*",
                            "Resource": [bucket.arn, pulumi.Output.concat(bucket.arn, "/*")],
                            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
                        }
                    ],
                }
            ),
            opts=self._kept(store.protect, [closed]),
        )
        self.buckets[store.name] = bucket.bucket
        self.bucket_arns[store.name] = bucket.arn
        return bucket

    def _make_lustre(
        self,
        store: StoragePlan,
        key_arn: pulumi.Input[str] | None,
        group: pulumi.Input[str],
        buckets: Mapping[str, Any],
    ) -> None:
        import pulumi_aws as aws

        planned = self._planned
        groups = [group]
        if store.efa:
            if planned.efa_security_group_id is None:
                raise pulumi.InputPropertyError(
                    "efa_security_group_id", f"{store.name}: Lustre with EFA needs the EFA group"
                )
            groups.append(planned.efa_security_group_id)
        persistent = (store.deployment_type or "").startswith("PERSISTENT")
        file_system = aws.fsx.LustreFileSystem(
            f"{self._name}-{store.name}",
            deployment_type=store.deployment_type,
            storage_type="SSD",
            storage_capacity=store.gib,
            per_unit_storage_throughput=store.tier_mb_s_per_tib,
            file_system_type_version="2.15",
            efa_enabled=store.efa or None,
            metadata_configuration=_metadata(store),
            data_compression_type=store.compression,
            kms_key_id=key_arn if persistent else None,
            subnet_ids=self._subnet_of(store),
            security_group_ids=groups,
            automatic_backup_retention_days=store.backup_days if persistent and not store.data_repository else None,
            copy_tags_to_backups=True if persistent and not store.data_repository else None,
            skip_final_backup=True,
            tags=self._tagged(store),
            opts=self._kept(store.protect),
        )
        if store.data_repository:
            bucket = self._repository(store.data_repository, buckets)
            aws.fsx.DataRepositoryAssociation(
                f"{self._name}-{store.name}-{store.data_repository}",
                file_system_id=file_system.id,
                file_system_path=f"/{store.data_repository}",
                data_repository_path=pulumi.Output.concat("s3://", bucket),
                batch_import_meta_data_on_create=True,
                s3={
                    "auto_import_policy": {"events": _REPOSITORY_EVENTS},
                    "auto_export_policy": {"events": _REPOSITORY_EVENTS},
                },
                tags=dict(planned.tags),
                opts=self._kept(store.protect),
            )
        self._file_system_ids[store.name] = file_system.id
        self._mount_names[store.name] = file_system.mount_name
        self._dns_names[store.name] = file_system.dns_name
        self._mounts[store.name] = pulumi.Output.format(
            "mount -t lustre -o relatime,flock {0}@tcp:/{1} {2}",
            file_system.dns_name,
            file_system.mount_name,
            store.mount_path,
        )

    def _repository(self, name: str, buckets: Mapping[str, Any]) -> pulumi.Input[str]:
        if name in buckets:
            bucket_id: pulumi.Output[str] = buckets[name].id
            return bucket_id
        return self.buckets.get(name, name)

    def _make_efs(self, store: StoragePlan, key_arn: pulumi.Input[str] | None, group: pulumi.Input[str]) -> None:
        import pulumi_aws as aws

        kept, name = self._kept(store.protect), f"{self._name}-{store.name}"
        file_system = aws.efs.FileSystem(
            name,
            encrypted=True,
            kms_key_id=key_arn,
            performance_mode="generalPurpose",
            throughput_mode="elastic",
            lifecycle_policies=[
                {"transition_to_ia": "AFTER_30_DAYS"},
                {"transition_to_primary_storage_class": "AFTER_1_ACCESS"},
            ],
            tags=self._tagged(store),
            opts=kept,
        )
        for zone, subnet in (self._planned.subnet_by_zone or {}).items():
            aws.efs.MountTarget(
                f"{name}-{zone}", file_system_id=file_system.id, subnet_id=subnet, security_groups=[group], opts=kept
            )
        if store.backup_days:
            aws.efs.BackupPolicy(name, file_system_id=file_system.id, backup_policy={"status": "ENABLED"}, opts=kept)
        self._file_system_ids[store.name] = file_system.id
        self._dns_names[store.name] = file_system.dns_name
        self._mounts[store.name] = pulumi.Output.format(
            "mount -t efs -o tls,iam {0}:/ {1}", file_system.id, store.mount_path
        )

    def _subnet_of(self, store: StoragePlan) -> pulumi.Input[str]:
        places = self._planned.subnet_by_zone or {}
        if not places:
            raise pulumi.InputPropertyError("subnet_ids", f"{store.name}: file systems need subnets")
        return places.get(store.availability_zone or "", next(iter(places.values())))


def _metadata(store: StoragePlan) -> dict[str, Any] | None:
    if store.deployment_type != "PERSISTENT_2":
        return None
    if store.metadata_iops is None:
        return {"mode": "AUTOMATIC"}
    return {"mode": "USER_PROVISIONED", "iops": store.metadata_iops}
