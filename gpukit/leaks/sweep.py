"""
Look for everything that carries a stack's tags.

Each service that bills much is asked by its own reading call, because the tagging API forgets some kinds (network
interfaces, Elastic IPs of a deleted stack) and lists others for hours after they are gone; it is asked last, for the
kinds nobody thinks of. What the cluster itself left behind carries its name instead of the stack's tags. A service that
may not be asked is unknown: a sweep that could not look is no clean sweep.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpukit.preflight.account import Account, Refused

STACK_TAG: Final = "gpukit:stack"
ENVIRONMENT_TAG: Final = "gpukit:environment"


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """One thing that still exists. `costs` tells whether it bills while nothing uses it."""

    kind: str
    id: str
    costs: bool
    name: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """What was found, and which services could not be asked (the action, and why)."""

    stack: str
    region: str
    leftovers: tuple[Leftover, ...]
    not_asked: tuple[tuple[str, str], ...] = ()

    @property
    def billing(self) -> tuple[Leftover, ...]:
        """Return what costs money."""
        return tuple(item for item in self.leftovers if item.costs)


Look = Callable[[Account, Mapping[str, str]], Iterable[Leftover]]


def sweep(account: Account, *, stack: str, environment: str | None = None) -> Sweep:
    """Return everything with the stack's tags (and the environment's, where one is named), by kind and id."""
    tags = {STACK_TAG: stack} | ({ENVIRONMENT_TAG: environment} if environment else {})
    found: list[Leftover] = []
    not_asked: list[tuple[str, str]] = []
    for look in _LOOKS:
        try:
            found.extend(look(account, tags))
        except Refused as refused:
            why = "not allowed" if refused.denied else f"{refused.code}: {refused.message[:120]}"
            not_asked.append((refused.action, why))
    return Sweep(
        stack=stack,
        region=account.region,
        leftovers=tuple(sorted(set(found), key=lambda item: (not item.costs, item.kind, item.id))),
        not_asked=tuple(sorted(set(not_asked))),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ec2Kind:
    operation: str
    key: str
    id_key: str
    kind: str
    costs: bool


_GONE: Final = ("deleting", "deleted", "failed", "expired", "cancelled", "payment-failed")
"""States of things that are on their way out, or that never came; none of them bills."""
_BILLING: Final = (
    ("DescribeVolumes", "Volumes", "VolumeId", "EBS volume"),
    ("DescribeSnapshots", "Snapshots", "SnapshotId", "EBS snapshot"),
    ("DescribeNatGateways", "NatGateways", "NatGatewayId", "NAT gateway"),
    ("DescribeAddresses", "Addresses", "AllocationId", "Elastic IP"),
    ("DescribeVpcEndpoints", "VpcEndpoints", "VpcEndpointId", "VPC endpoint"),
    ("DescribeCapacityReservations", "CapacityReservations", "CapacityReservationId", "capacity reservation"),
)
_FREE: Final = (
    ("DescribeNetworkInterfaces", "NetworkInterfaces", "NetworkInterfaceId", "network interface"),
    ("DescribeSecurityGroups", "SecurityGroups", "GroupId", "security group"),
    ("DescribeSubnets", "Subnets", "SubnetId", "subnet"),
    ("DescribeVpcs", "Vpcs", "VpcId", "VPC"),
    ("DescribeLaunchTemplates", "LaunchTemplates", "LaunchTemplateId", "launch template"),
    ("DescribePlacementGroups", "PlacementGroups", "GroupName", "placement group"),
)
_EC2_KINDS: Final = tuple(
    _Ec2Kind(operation=operation, key=key, id_key=id_key, kind=kind, costs=costs)
    for costs, rows in ((True, _BILLING), (False, _FREE))
    for operation, key, id_key, kind in rows
)


def _look_at_ec2(kind: _Ec2Kind) -> Look:
    def look(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
        # DescribeNatGateways spells its filters in the singular (EC2 API Reference)
        name = "Filter" if kind.operation == "DescribeNatGateways" else "Filters"
        for item in account.ask_all("ec2", kind.operation, kind.key, **{name: _filters(tags)}):
            if str(item.get("State", "")).lower() not in _GONE:
                yield Leftover(kind=kind.kind, id=str(item[kind.id_key]), costs=kind.costs, name=_name(item))

    return look


def _look_at_instances(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
    for reservation in account.ask_all("ec2", "DescribeInstances", "Reservations", Filters=_filters(tags)):
        for item in reservation.get("Instances", []):
            state = str(item.get("State", {}).get("Name", ""))
            if state not in ("terminated", "shutting-down"):
                yield Leftover(
                    kind="instance",
                    id=str(item["InstanceId"]),
                    costs=True,
                    name=_name(item),
                    note=f"{item.get('InstanceType', '')}, {state}",
                )


def _look_at_clusters(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
    for name in account.ask_all("eks", "ListClusters", "clusters"):
        cluster = account.ask("eks", "DescribeCluster", name=name)["cluster"]
        if _has(cluster.get("tags", {}), tags):
            yield Leftover(kind="EKS cluster", id=str(name), costs=True, note=str(cluster.get("status", "")))


def _look_at_lustre(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
    for item in account.ask_all("fsx", "DescribeFileSystems", "FileSystems"):
        if _has(_pairs(item.get("Tags", [])), tags) and item.get("Lifecycle") != "DELETING":
            size = f"{item.get('StorageCapacity', 0):,} GiB"
            yield Leftover(
                kind="FSx file system", id=str(item["FileSystemId"]), costs=True, name=_name(item), note=size
            )


def _look_at_efs(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
    for item in account.ask("efs", "DescribeFileSystems").get("FileSystems", []):
        if _has(_pairs(item.get("Tags", [])), tags) and item.get("LifeCycleState") not in ("deleting", "deleted"):
            yield Leftover(kind="EFS file system", id=str(item["FileSystemId"]), costs=True, name=_name(item))


def _look_at_buckets(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
    for bucket in account.ask("s3", "ListBuckets").get("Buckets", []):
        try:
            found = account.ask("s3", "GetBucketTagging", Bucket=bucket["Name"]).get("TagSet", [])
        except Refused as refused:
            # a bucket without tags, or one that belongs to another region or team, is none of this stack
            if refused.denied:
                raise
            continue
        if _has(_pairs(found), tags):
            yield Leftover(kind="S3 bucket", id=str(bucket["Name"]), costs=True, note="it bills for what is in it")


def _look_at_what_the_cluster_left(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
    """Yield interfaces and volumes that EKS add-ons made: they carry the cluster's name, not the stack's tags."""
    stack, environment = tags[STACK_TAG], tags.get(ENVIRONMENT_TAG, "")
    # clusters are named after stack and environment, once where the stack's name ends with it
    name = stack if stack.endswith(environment) else f"{stack}-{environment}"
    # the VPC CNI tags its interfaces so; the EBS CSI driver tags its volumes with the key of the cluster
    by_cluster = [{"Name": "tag:cluster.k8s.amazonaws.com/name", "Values": [name]}]
    by_key = [{"Name": "tag-key", "Values": [f"kubernetes.io/cluster/{name}"]}]
    for filters, operation, key, id_key, kind, costs in (
        (
            by_cluster,
            "DescribeNetworkInterfaces",
            "NetworkInterfaces",
            "NetworkInterfaceId",
            "network interface",
            False,
        ),
        (by_key, "DescribeVolumes", "Volumes", "VolumeId", "EBS volume", True),
    ):
        for item in account.ask_all("ec2", operation, key, Filters=filters):
            if str(item.get("State", "")).lower() not in _GONE:
                yield Leftover(
                    kind=kind, id=str(item[id_key]), costs=costs, name=_name(item), note="made by the cluster"
                )


_OWN_LOOK: Final = frozenset({"ec2", "eks", "fsx", "elasticfilesystem", "s3"})
"""Services with a look of their own; what the tagging API says of them is late."""
_BILLING_SERVICES: Final = frozenset({"kms", "logs", "ecr", "secretsmanager", "backup", "cloudwatch", "imagebuilder"})


def _look_at_everything_else(account: Account, tags: Mapping[str, str]) -> Iterator[Leftover]:
    wanted = [{"Key": key, "Values": [value]} for key, value in sorted(tags.items())]
    for item in _pages_of_tagged(account, wanted):
        arn = str(item["ResourceARN"])
        parts = arn.split(":", 5)
        if len(parts) == 6 and parts[2] not in _OWN_LOOK:
            yield Leftover(
                kind=f"{parts[2]} resource",
                id=arn,
                costs=parts[2] in _BILLING_SERVICES,
                name=_name(item),
            )


def _pages_of_tagged(account: Account, wanted: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield all tagged resources; this API pages by `PaginationToken`, where an empty one ends."""
    token = ""
    while True:
        more = {"PaginationToken": token} if token else {}
        answer = account.ask("resourcegroupstaggingapi", "GetResources", TagFilters=wanted, **more)
        yield from answer.get("ResourceTagMappingList", [])
        token = answer.get("PaginationToken", "")
        if not token:
            return


_LOOKS: Final[tuple[Look, ...]] = (
    _look_at_instances,
    *(_look_at_ec2(kind) for kind in _EC2_KINDS),
    _look_at_clusters,
    _look_at_lustre,
    _look_at_efs,
    _look_at_buckets,
    _look_at_what_the_cluster_left,
    _look_at_everything_else,
)


def reading_actions() -> tuple[str, ...]:
    """Return the actions that a sweep asks for, as IAM spells them, sorted."""
    ec2 = {f"ec2:{kind.operation}" for kind in _EC2_KINDS} | {"ec2:DescribeInstances"}
    others = {
        "eks:ListClusters",
        "eks:DescribeCluster",
        "fsx:DescribeFileSystems",
        "elasticfilesystem:DescribeFileSystems",
        "s3:ListAllMyBuckets",
        "s3:GetBucketTagging",
        "tag:GetResources",
    }
    return tuple(sorted(ec2 | others))


def _filters(tags: Mapping[str, str]) -> list[dict[str, Any]]:
    return [{"Name": f"tag:{key}", "Values": [value]} for key, value in sorted(tags.items())]


def _pairs(tags: Iterable[Mapping[str, str]]) -> dict[str, str]:
    return {tag["Key"]: tag.get("Value", "") for tag in tags}


def _has(found: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    return all(found.get(key) == value for key, value in wanted.items())


def _name(item: Mapping[str, Any]) -> str:
    return _pairs(item.get("Tags", [])).get("Name", "")
