"""
The stack file, as types: every section and key that a user may write.

Field comments are the help that editors show; they end up in the JSON Schema (`gpukit schema`). Everything is optional
over a preset. Values are checked here for form only; whether they fit the hardware is decided by the checks.
"""

import re
from dataclasses import replace
from datetime import date
from enum import StrEnum
from typing import Annotated, Any, LiteralString, TypeVar, cast, dataclass_transform

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field
from pydantic.dataclasses import dataclass
from pydantic_core import PydanticCustomError

_CONFIG = ConfigDict(extra="forbid", allow_inf_nan=False, str_max_length=65_536, defer_build=True)
_Spec = TypeVar("_Spec")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field,))
def _model(section: type[_Spec]) -> type[_Spec]:
    return cast(type[_Spec], dataclass(frozen=True, slots=True, kw_only=True, config=_CONFIG)(section))


def changed(section: _Spec, **changes: Any) -> _Spec:
    """Return a section of a spec with some keys changed; the values must be valid already."""
    return cast(_Spec, replace(cast(Any, section), **changes))


class Kind(StrEnum):
    """What the stack makes."""

    WORKSTATION = "workstation"
    CLUSTER = "cluster"
    EXISTING_CLUSTER = "existing-cluster"


class CapacityMode(StrEnum):
    """Where instances come from; decides placement, scaling, surge and which quotas count."""

    ON_DEMAND = "on-demand"
    SPOT = "spot"
    RESERVED = "reserved"
    CAPACITY_BLOCK = "capacity-block"


class PoolRole(StrEnum):
    """What a pool's nodes are for."""

    GPU = "gpu"
    SYSTEM = "system"
    LOGIN = "login"
    DATABASE = "database"
    CPU = "cpu"


class CoolingMethod(StrEnum):
    """How heat leaves a cooling zone."""

    AIR = "air"
    LIQUID = "liquid"
    HYBRID = "hybrid"
    IMMERSION = "immersion"


class StorageKind(StrEnum):
    """What a store is made of."""

    LUSTRE = "lustre"
    EFS = "efs"
    S3 = "s3"
    EBS = "ebs"
    LOCAL_NVME = "local-nvme"


class StorageRole(StrEnum):
    """What a store is for."""

    HOME = "home"
    SCRATCH = "scratch"
    DATASETS = "datasets"
    CHECKPOINTS = "checkpoints"


class Egress(StrEnum):
    """How private nodes reach out."""

    NAT = "nat"
    ENDPOINTS = "endpoints"


class Framework(StrEnum):
    """The framework of an image."""

    PYTORCH = "pytorch"
    TENSORFLOW = "tensorflow"
    JAX = "jax"
    NONE = "none"


class Precision(StrEnum):
    """Number format of the weights in training."""

    FP32 = "fp32"
    FP16 = "fp16"
    BF16 = "bf16"
    FP8 = "fp8"


class UpdateStrategy(StrEnum):
    """How nodes are changed."""

    ROLLING = "rolling"
    REPLACE_ONE_BY_ONE = "replace-one-by-one"
    BLUE_GREEN = "blue-green"
    NEVER = "never"


class Repair(StrEnum):
    """What happens to a node that fails its checks."""

    NONE = "none"
    TAINT = "taint"
    REPLACE = "replace"


class LocalNvmeRole(StrEnum):
    """What the instance's own NVMe disks are used for."""

    NONE = "none"
    CACHE = "cache"
    SCRATCH = "scratch"
    CONTAINERS = "containers"


class TaintEffect(StrEnum):
    """Kubernetes taint effects."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class AccessPolicy(StrEnum):
    """Rights in the cluster."""

    ADMIN = "admin"
    EDIT = "edit"
    VIEW = "view"


def _not_bool(value: Any) -> Any:
    # YAML `true` is an int to Python; nobody means "one node" by it
    if isinstance(value, bool):
        raise PydanticCustomError("int_type", "a whole number")
    return value


def _whole(value: Any) -> Any:
    # Pulumi hands numbers over as floats; 8.0 is 8, 8.5 is a mistake
    value = _not_bool(value)
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return int(value)
    return value


def _text(value: Any) -> Any:
    # a version such as 1.34 is a float to YAML; quoting it is no job for people
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return str(getattr(value, "text", value))
    return value


WHOLE = BeforeValidator(_whole)

Count = Annotated[int, Field(strict=True, ge=0, le=1_000_000), WHOLE]
PositiveCount = Annotated[int, Field(strict=True, ge=1, le=1_000_000), WHOLE]
Gib = Annotated[int, Field(strict=True, ge=1, le=100_000_000), WHOLE]
Percent = Annotated[int, Field(strict=True, ge=1, le=100), WHOLE]
Minutes = Annotated[int, Field(strict=True, ge=1, le=1_000_000), WHOLE]
Days = Annotated[int, Field(strict=True, ge=0, le=36_500), WHOLE]
Port = Annotated[int, Field(strict=True, ge=0, le=65_535), WHOLE]
Money = Annotated[float, Field(strict=True, ge=0, le=1e12), BeforeValidator(_not_bool)]
Amount = Annotated[float, Field(strict=True, gt=0, le=1e18), BeforeValidator(_not_bool)]
Version = Annotated[str, Field(min_length=1, max_length=64), BeforeValidator(_text)]
TagValue = Annotated[str, Field(max_length=256), BeforeValidator(_text)]

_NAME = re.compile(r"[a-z][a-z0-9-]{0,38}[a-z0-9]|[a-z]", re.ASCII)


def _check_name(value: str) -> str:
    if not _NAME.fullmatch(value):
        raise PydanticCustomError(
            "name",
            "a name of 1 to 40 small letters, digits and hyphens that starts with a letter and ends without a hyphen",
        )
    return value


Name = Annotated[str, AfterValidator(_check_name)]


def _pattern(kind: LiteralString, expression: str, says: LiteralString) -> AfterValidator:
    compiled = re.compile(expression, re.ASCII)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise PydanticCustomError(kind, says)
        return value

    return AfterValidator(check)


ReservationId = Annotated[str, _pattern("reservation_id", r"cr-[0-9a-f]{8,17}", "an id like `cr-0123456789abcdef0`")]
AmiId = Annotated[str, _pattern("ami_id", r"ami-[0-9a-f]{8,17}", "an id like `ami-0123456789abcdef0`")]
VpcId = Annotated[str, _pattern("vpc_id", r"vpc-[0-9a-f]{8,17}", "an id like `vpc-0123456789abcdef0`")]
SubnetId = Annotated[str, _pattern("subnet_id", r"subnet-[0-9a-f]{8,17}", "an id like `subnet-0123456789abcdef0`")]
SecurityGroupId = Annotated[
    str, _pattern("security_group_id", r"sg-[0-9a-f]{8,17}", "an id like `sg-0123456789abcdef0`")
]
Arn = Annotated[
    str,
    _pattern(
        "arn",
        r"arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:(\d{12}|aws)?:.+",
        "an ARN like `arn:aws:iam::111122223333:role/name`",
    ),
]
Email = Annotated[str, _pattern("email", r"[^@\s,]+@[^@\s,]+\.[^@\s,]+", "an e-mail address like `team@example.com`")]
GitDate = Annotated[date, Field(strict=False)]


def _cidr(value: str) -> str:
    import ipaddress

    try:
        ipaddress.IPv4Network(value)
    except ValueError as error:
        raise PydanticCustomError("cidr", "a network such as `10.0.0.0/16`: {why}", {"why": str(error)}) from error
    return value


Cidr = Annotated[str, AfterValidator(_cidr)]


@_model
class LifecycleSpec:
    """When things go away by themselves."""

    idle_stop_minutes: Minutes | None = None
    """A workstation stops after this many minutes without GPU use and without a session."""
    end_date: GitDate | None = None
    """The day after which the stack should be gone (YYYY-MM-DD)."""
    idle_pool_minutes: Minutes | None = None
    """An elastic pool shrinks after this many idle minutes."""


@_model
class ExistingNetworkSpec:
    """A VPC that is already there; gpukit adds nothing to it but security groups."""

    vpc_id: VpcId
    """The VPC's id."""
    subnets: Annotated[dict[str, SubnetId], Field(min_length=1)]
    """Availability zone -> id of a private subnet in it."""
    cidr: Cidr | None = None
    """The VPC's address block, for the checks."""


@_model
class PortSpec:
    """One more inbound rule on the nodes."""

    port: Port
    """First port."""
    to_port: Port | None = None
    """Last port; the first one when left out."""
    protocol: Annotated[str, Field(pattern="^(tcp|udp|icmp)$")] = "tcp"
    """tcp, udp or icmp."""
    cidr: Cidr
    """Who may connect."""
    description: Annotated[str, Field(max_length=200)] = ""
    """Why."""


@_model
class NetworkSpec:
    """Addresses, zones and the way out."""

    cidr: Cidr | None = None
    """Address block of the VPC; sized from the plan when left out."""
    pod_cidr: Cidr | None = None
    """Secondary block for pods."""
    availability_zones: list[str] | None = None
    """Zones by name (us-east-1a) or zone id (use1-az4)."""
    egress: Egress = Egress.NAT
    """nat, or endpoints only."""
    nat_gateways: Annotated[int, Field(strict=True, ge=0, le=16), WHOLE] | None = None
    """How many NAT gateways; one when left out."""
    existing: ExistingNetworkSpec | None = None
    """Use this VPC instead of making one."""
    security_groups: list[SecurityGroupId] = Field(default_factory=list)
    """More security groups on every node, by id."""
    ports: list[PortSpec] = Field(default_factory=list)
    """More inbound rules."""
    flow_log_days: Annotated[int, Field(strict=True, ge=1, le=3653), WHOLE] = 30
    """How long flow logs are kept."""


@_model
class KubernetesSpec:
    """The control plane and what runs beside it."""

    version: Version | None = None
    """EKS version, such as "1.34"."""
    addons: dict[str, Version] = Field(default_factory=dict)
    """EKS add-ons: name -> exact version."""
    operators: dict[str, Version] = Field(default_factory=dict)
    """Operators by name and exact chart version."""
    log_days: Annotated[int, Field(strict=True, ge=1, le=3653), WHOLE] = 90
    """How long control plane logs are kept."""
    context: str | None = None
    """existing-cluster: the kubeconfig context to use."""


@_model
class ReservationSpec:
    """One reservation or Capacity Block."""

    id: ReservationId | None = None
    """Its id; may be left out while it is not bought yet."""
    nodes: PositiveCount
    """Instances in it that this pool may use."""
    availability_zone: str | None = None
    """The one zone it lives in."""
    starts: GitDate | None = None
    """First day (YYYY-MM-DD)."""
    ends: GitDate | None = None
    """Last day (YYYY-MM-DD)."""
    instance_type: str | None = None
    """Its instance type, where it is stated for checking."""
    placement_group: str | None = None
    """An on-demand reservation made in a cluster placement group: that group's name."""
    platform: str | None = None
    """Its platform, such as Linux/UNIX, for checking."""
    tenancy: str | None = None
    """default or dedicated, for checking."""


@_model
class CapacitySpec:
    """One source of instances."""

    mode: CapacityMode = CapacityMode.ON_DEMAND
    """on-demand, spot, reserved or capacity-block."""
    reservations: list[ReservationSpec] = Field(default_factory=list)
    """The reservations or blocks to launch into, each its own node group."""
    nodes: Count | None = None
    """In a list of sources: how many nodes this one gives."""
    reservation_group_arn: Arn | None = None
    """Target a resource group of reservations instead of ids."""
    max_usd_per_hour: Money | None = None
    """Spot: the most to pay for an instance hour."""


def _sources(value: Any) -> Any:
    # one source is a list of one
    return [value] if isinstance(value, dict) else value


def _node_count(value: Any) -> Any:
    value = _whole(value)
    if isinstance(value, int):
        return {"min": value, "max": value}
    if not isinstance(value, (dict, NodeCountSpec)):
        raise PydanticCustomError("int_type", "a whole number, or `min` and `max`")
    return value


@_model
class NodeCountSpec:
    """How many nodes: fixed where both are equal."""

    min: Count
    """The fewest."""
    max: Count
    """The most."""


@_model
class RootVolumeSpec:
    """The root volume of each node."""

    gib: Annotated[int, Field(strict=True, ge=8, le=16_384), WHOLE] | None = None
    """Size in GiB."""
    type: Annotated[str, Field(pattern="^(gp3|gp2|io1|io2)$")] = "gp3"
    """gp3, gp2, io1 or io2."""
    iops: Annotated[int, Field(strict=True, ge=100, le=256_000), WHOLE] | None = None
    """Provisioned I/O operations per second."""
    throughput_mb_s: Annotated[int, Field(strict=True, ge=125, le=2_000), WHOLE] | None = None
    """Provisioned throughput (gp3)."""


@_model
class LocalNvmeSpec:
    """What the instance's own disks do."""

    role: LocalNvmeRole = LocalNvmeRole.CACHE
    """none, cache, scratch or containers."""
    path: Annotated[str, Field(pattern="^/[A-Za-z0-9._/-]*$", max_length=200)] = "/local"
    """Where they are mounted."""


@_model
class TaintSpec:
    """A taint on each node."""

    key: Annotated[str, Field(min_length=1, max_length=317)]
    """Key."""
    value: Annotated[str, Field(max_length=63)] = ""
    """Value."""
    effect: TaintEffect = TaintEffect.NO_SCHEDULE
    """NoSchedule, PreferNoSchedule or NoExecute."""


@_model
class BootHookSpec:
    """A script at boot: text, or a file beside the stack file."""

    name: Name
    """A name for logs."""
    run: Annotated[str, Field(min_length=1)] | None = None
    """The script itself."""
    file: Annotated[str, Field(min_length=1, max_length=1024)] | None = None
    """A file with the script, relative to the stack file."""
    sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    """The content's SHA-256, checked when given."""


@_model
class BootSpec:
    """Hooks around a node's joining."""

    before_join: list[BootHookSpec] = Field(default_factory=list)
    """Before the node joins the cluster."""
    after_join: list[BootHookSpec] = Field(default_factory=list)
    """After it joined."""


@_model
class KubeletSpec:
    """Kubelet policies."""

    cpu_manager_policy: Annotated[str, Field(pattern="^(none|static)$")] | None = None
    """none or static."""
    topology_manager_policy: (
        Annotated[str, Field(pattern="^(none|best-effort|restricted|single-numa-node)$")] | None
    ) = None
    """NUMA policy."""
    max_pods: Annotated[int, Field(strict=True, ge=4, le=1_000), WHOLE] | None = None
    """Pods a node."""


@_model
class NodeTuningSpec:
    """Node tuning."""

    threads_per_core: Annotated[int, Field(strict=True, ge=1, le=2), WHOLE] | None = None
    """1 switches hyper-threading off."""
    locked_memory: Annotated[str, Field(pattern="^(unlimited|[0-9]+[KMG]i?)$")] | None = None
    """memlock limit, such as unlimited."""
    shared_memory_gib: Gib | None = None
    """Size of /dev/shm."""
    hugepages_2mi: Count | None = None
    """2 MiB huge pages."""
    kubelet: KubeletSpec = KubeletSpec()
    """Kubelet policies."""
    sysctls: dict[str, TagValue] = Field(default_factory=dict)
    """Kernel settings."""


@_model
class SharingSpec:
    """How one GPU serves several pods."""

    mig: list[str] = Field(default_factory=list)
    """MIG profiles on each GPU, such as [3g.71gb, 3g.71gb]."""
    time_slices: Annotated[int, Field(strict=True, ge=0, le=48), WHOLE] = 0
    """Pods that take turns on one GPU."""


@_model
class BucketsSpec:
    """Buckets by name."""

    read: list[Annotated[str, Field(min_length=3, max_length=63)]] = Field(default_factory=list)
    """May be read."""
    write: list[Annotated[str, Field(min_length=3, max_length=63)]] = Field(default_factory=list)
    """May be read and written."""


@_model
class PermissionsSpec:
    """What nodes and pods of a pool may do."""

    buckets: BucketsSpec = BucketsSpec()
    """S3 buckets."""
    policies: list[Arn] = Field(default_factory=list)
    """Managed policies, by ARN."""
    pod_identities: list[Annotated[str, Field(pattern="^[a-z0-9-]+/[a-z0-9.-]+$")]] = Field(default_factory=list)
    """`namespace/service-account` pairs that get them."""


@_model
class UpdatesSpec:
    """How nodes are changed."""

    strategy: UpdateStrategy = UpdateStrategy.ROLLING
    """rolling, replace-one-by-one, blue-green or never."""
    max_unavailable_pct: Percent | None = None
    """Share of nodes that may be away."""
    drain_minutes: Annotated[int, Field(strict=True, ge=0, le=10_080), WHOLE] = 15
    """How long a node may drain."""
    window: Annotated[str, Field(max_length=100)] | None = None
    """Maintenance window, such as `Sun 02:00-06:00`."""


@_model
class PoolSpec:
    """Nodes of one purpose."""

    role: PoolRole = PoolRole.GPU
    """gpu, or a helper: system, login, database, cpu."""
    instance_type: Annotated[str, Field(min_length=1, max_length=64)] | None = None
    """The EC2 instance type."""
    instance_types: list[str] = Field(default_factory=list)
    """Several types in order of wish (spot and on-demand)."""
    ultraserver: str | None = None
    """A rack-scale UltraServer, such as u-p6e-gb200x72; nodes must fill whole racks."""
    nodes: Annotated[NodeCountSpec, BeforeValidator(_node_count)] = Field(
        default_factory=lambda: NodeCountSpec(min=1, max=1)
    )
    """How many: a number, or {min, max}."""
    capacity: Annotated[list[CapacitySpec], BeforeValidator(_sources), Field(min_length=1)] = Field(
        default_factory=lambda: [CapacitySpec()]
    )
    """Where instances come from: one source, or a list in order."""
    zones: list[str] | None = None
    """Zones of this pool, by name or zone id."""
    placement_group: str | None = None
    """auto (decided from the capacity mode), none, or the name of a group that exists."""
    root_volume: RootVolumeSpec = RootVolumeSpec()
    """Root volume."""
    local_nvme: LocalNvmeSpec | None = None
    """Local NVMe disks."""
    labels: dict[str, TagValue] = Field(default_factory=dict)
    """More node labels."""
    taints: list[TaintSpec] | None = None
    """Node taints; GPU pools get nvidia.com/gpu when left out."""
    boot: BootSpec = BootSpec()
    """Boot hooks."""
    node: NodeTuningSpec = NodeTuningSpec()
    """Node tuning."""
    image: str | None = None
    """Name of an image in `images`."""
    pre_pull: list[str] = Field(default_factory=list)
    """Container images to pull at start."""
    sharing: SharingSpec = SharingSpec()
    """GPU sharing."""
    efa: bool | None = None
    """EFA on or off; decided from type and node count when left out."""
    cooling_zone: str | None = None
    """Name of a cooling zone."""
    permissions: PermissionsSpec = PermissionsSpec()
    """Rights of nodes and pods."""
    updates: UpdatesSpec = UpdatesSpec()
    """How nodes are changed."""


@_model
class StorageSpec:
    """One store."""

    kind: StorageKind
    """lustre, efs, s3, ebs or local-nvme."""
    role: StorageRole = StorageRole.SCRATCH
    """home, scratch, datasets or checkpoints."""
    mount_path: Annotated[str, Field(pattern="^/[A-Za-z0-9._/-]*$", max_length=200)] | None = None
    """Where nodes and pods see it."""
    gib: Gib | None = None
    """Size; decided from `workload` when left out."""
    throughput_tier: Annotated[int, Field(strict=True, ge=1, le=10_000), WHOLE] | None = None
    """Lustre: MB/s per TiB (125, 250, 500, 1000); decided when left out."""
    deployment_type: Annotated[str, Field(pattern="^(PERSISTENT_1|PERSISTENT_2|SCRATCH_1|SCRATCH_2)$")] | None = None
    """Lustre: PERSISTENT_2 when left out."""
    efa: bool | None = None
    """Lustre: EFA on or off; decided when left out."""
    metadata_iops: PositiveCount | None = None
    """Lustre: metadata operations per second; automatic when left out."""
    data_repository: str | None = None
    """Lustre: the s3 store it imports from and exports to."""
    existing: Annotated[str, Field(min_length=1, max_length=255)] | None = None
    """Use what is there: fs-... or a bucket name."""
    availability_zone: str | None = None
    """Zone of an existing file system."""
    volume_type: Annotated[str, Field(pattern="^(gp3|gp2|io1|io2|st1|sc1)$")] | None = None
    """EBS volume type."""
    iops: PositiveCount | None = None
    """EBS I/O operations per second."""
    throughput_mb_s: PositiveCount | None = None
    """EBS throughput."""
    backup_days: Annotated[int, Field(strict=True, ge=0, le=90), WHOLE] = 0
    """Days that automatic backups are kept."""
    cache: Annotated[str, Field(pattern="^(none|read|metadata|aggressive)$")] | None = None
    """S3 mounted as a path: cache profile."""


@_model
class ImageSpec:
    """A pinned software layer."""

    framework: Framework = Framework.NONE
    """pytorch, tensorflow, jax or none."""
    version: Version | None = None
    """Framework version."""
    packages: dict[str, Version] = Field(default_factory=dict)
    """More Python packages by exact version."""
    ami_id: AmiId | None = None
    """Use this AMI."""
    release_version: Version | None = None
    """EKS AMI release version, such as 1.34.2-20260714."""
    container: Annotated[str, Field(min_length=1, max_length=512)] | None = None
    """Container image with digest or exact version."""
    operating_system: Annotated[str, Field(pattern="^(al2023|ubuntu-22.04|ubuntu-24.04|bottlerocket)$")] | None = None
    """al2023, ubuntu-22.04, ubuntu-24.04 or bottlerocket."""
    driver: Version | None = None
    """NVIDIA driver version that the image must have."""
    cuda: Version | None = None
    """CUDA version that the image must have."""
    efa_installer: Version | None = None
    """EFA installer version that the image must have."""
    build: bool = False
    """Build it by EC2 Image Builder instead of using one that exists."""


@_model
class TeamQueueSpec:
    """A team's share."""

    gpus: Count
    """GPUs it owns."""
    users: list[str] = Field(default_factory=list)
    """Its members."""
    borrow_gpus: Count | None = None
    """The most it may borrow; no limit when left out."""
    lend_gpus: Count | None = None
    """The most it lends; all when left out."""
    cpu: Count | None = None
    """vCPUs."""
    memory_gib: Count | None = None
    """Memory."""
    efa: Count | None = None
    """EFA interfaces."""
    pods: Count | None = None
    """Pods."""
    gpus_per_user: Count | None = None
    """The most one user may hold."""
    namespace: Name | None = None
    """Its namespace; the team's name when left out."""


@_model
class QueuesSpec:
    """Who may use how much."""

    teams: dict[Name, TeamQueueSpec] = Field(default_factory=dict)
    """Teams and their shares."""
    cohort: Name = "gpukit"
    """Teams of one cohort borrow from each other."""
    preemption: Annotated[str, Field(pattern="^(never|lower-priority|reclaim)$")] = "reclaim"
    """never, lower-priority, or reclaim what was lent."""
    priorities: dict[Name, Annotated[int, Field(strict=True, ge=-1_000_000_000, le=1_000_000_000), WHOLE]] = Field(
        default_factory=dict
    )
    """Priority classes: name -> number."""
    topology: list[str] = Field(default_factory=list)
    """Topology levels, widest first."""


@_model
class HealthSpec:
    """Checks of nodes."""

    at_start: bool = True
    """A node takes jobs only after its checks."""
    after_job: bool = False
    """Check again after each job."""
    deep_schedule: Annotated[str, Field(max_length=100)] | None = None
    """Deep tests, as a cron expression."""
    benchmark_pass_pct: Percent | None = None
    """Share of the expected bus bandwidth that passes."""
    repair: Repair = Repair.TAINT
    """none, taint, or replace after two signals."""


@_model
class ObservabilitySpec:
    """Where metrics and logs go."""

    metrics: Annotated[str, Field(pattern="^(none|cloudwatch|managed-prometheus|prometheus)$")] = "cloudwatch"
    """none, cloudwatch, managed-prometheus or prometheus."""
    dashboards: Annotated[str, Field(pattern="^(none|cloudwatch|managed-grafana|grafana)$")] = "none"
    """none, cloudwatch, managed-grafana or grafana."""
    logs_days: Annotated[int, Field(strict=True, ge=1, le=3653), WHOLE] = 30
    """How long logs are kept."""


@_model
class ViewerSpec:
    """Rights of one principal."""

    principal_arn: Arn
    """IAM role or user."""
    policy: AccessPolicy = AccessPolicy.VIEW
    """admin, edit or view."""
    namespaces: list[str] = Field(default_factory=list)
    """Only in these namespaces; everywhere when left out."""


@_model
class AccessSpec:
    """Who may do what."""

    administrators: list[Arn] = Field(default_factory=list)
    """IAM roles that administer the cluster."""
    viewers: list[Arn] = Field(default_factory=list)
    """IAM roles that may look."""
    teams: dict[Name, ViewerSpec] = Field(default_factory=dict)
    """Teams to namespaces."""
    public_endpoint_cidrs: list[Cidr] = Field(default_factory=list)
    """Who may reach the API server from outside; nobody when empty."""


@_model
class BudgetSpec:
    """What may be spent."""

    hourly_usd: Money | None = None
    """The most per hour at list price."""
    monthly_usd: Money | None = None
    """The most per month."""
    notify: list[Email] = Field(default_factory=list)
    """Who is told."""
    alert_pct: list[Annotated[int, Field(strict=True, ge=1, le=1000), WHOLE]] = Field(
        default_factory=lambda: [50, 80, 100]
    )
    """At which shares."""


@_model
class CoolingZoneSpec:
    """Where heat can go."""

    method: CoolingMethod
    """air, liquid, hybrid or immersion."""
    racks: PositiveCount | None = None
    """Racks in it."""
    envelope_kw: Amount | None = None
    """Power that it can cool."""
    availability_zone: str | None = None
    """The availability zone it stands for."""


@_model
class WorkloadSpec:
    """What will run: sizes storage and recommends hardware."""

    parameters: Amount | None = None
    """Weights of the model, such as 70e9."""
    tokens: Amount | None = None
    """Tokens to train on."""
    precision: Precision = Precision.BF16
    """fp32, fp16, bf16 or fp8."""
    optimizer_bytes_per_parameter: Annotated[int, Field(strict=True, ge=0, le=64), WHOLE] = 12
    """Bytes of optimizer state and master weights per parameter (Adam in mixed precision: 12)."""
    checkpoint_seconds: Amount = 60.0
    """How long one checkpoint may take."""
    checkpoint_minutes: Amount | None = None
    """How often one is written."""
    checkpoints_kept: PositiveCount = 5
    """How many stay on the fast file system."""
    dataset_gib: Amount | None = None
    """Size of the dataset."""
    read_mb_s_per_gpu: Amount | None = None
    """What each GPU reads."""


@_model
class PhaseSpec:
    """A phase: its pools exist only in it."""

    pools: list[str] = Field(min_length=1)
    """Pools of this phase."""
    hours: Amount
    """How long it takes."""


@_model
class SuppressSpec:
    """A finding that is accepted, with its reason."""

    code: Annotated[str, Field(pattern="^GK[0-9]{4}$")]
    """The code."""
    reason: Annotated[str, Field(min_length=3, max_length=500)]
    """Why it is accepted."""
    path: str | None = None
    """Only at this key path."""
    until: GitDate | None = None
    """Only up to this day."""


@_model
class WorkstationSpec:
    """What only a single node has."""

    jupyter: bool = False
    """Start Jupyter on the loopback address, reached by SSM port forwarding."""


@_model
class ClusterSpec:
    """A whole stack."""

    kind: Kind = Kind.CLUSTER
    """workstation, cluster or existing-cluster."""
    name: Name = "gpukit"
    """Name of the stack's things."""
    environment: Name = "dev"
    """Environment, such as dev, staging or prod."""
    team: Name | None = None
    """Who owns it."""
    region: Annotated[str, Field(pattern="^[a-z]{2}(-[a-z]+)+-[0-9]$")] | None = None
    """AWS region; a stack's aws:region wins."""
    tags: dict[str, TagValue] = Field(default_factory=dict)
    """Tags on everything."""
    protect: bool = True
    """Deletion protection on data."""
    lifecycle: LifecycleSpec = LifecycleSpec()
    """When things go away."""
    network: NetworkSpec = NetworkSpec()
    """Network."""
    kubernetes: KubernetesSpec = KubernetesSpec()
    """Control plane."""
    pools: dict[Name, PoolSpec] = Field(default_factory=dict)
    """Pools of nodes."""
    storage: dict[Name, StorageSpec] = Field(default_factory=dict)
    """Stores."""
    images: dict[Name, ImageSpec] = Field(default_factory=dict)
    """Images."""
    queues: QueuesSpec | None = None
    """Queues."""
    health: HealthSpec | None = None
    """Health checks."""
    observability: ObservabilitySpec | None = None
    """Metrics and logs."""
    access: AccessSpec = AccessSpec()
    """Rights."""
    budget: BudgetSpec = BudgetSpec()
    """Budget."""
    cooling_zones: dict[Name, CoolingZoneSpec] = Field(default_factory=dict)
    """Cooling zones."""
    workstation: WorkstationSpec = WorkstationSpec()
    """A single node's own settings."""
    workload: WorkloadSpec | None = None
    """Workload."""
    phases: dict[Name, PhaseSpec] = Field(default_factory=dict)
    """Phases."""
    limits: dict[str, Money] = Field(default_factory=dict)
    """Your account's own limits: id or quota code -> value."""
    suppress: list[SuppressSpec] = Field(default_factory=list)
    """Accepted findings."""
