"""
The plan: the whole decided cluster as one frozen value.

It leaves no choice to whoever builds it: names, counts, zones, interfaces and sizes are all here, each with its reason
in `decisions`. The same plan feeds the components, the checks, the cost, the reports and the offline preview.

Units end the names: `_gib` is 2**30 bytes, `_gb_s` is 10**9 bytes per second, `_gbps` is 10**9 bits per second, `_kw`
is electrical power, `_usd` is list price without discounts. `None` always means "unknown", never zero.
"""

from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

SCHEMA_VERSION = 1
"""Raised when a field of the JSON form changes its meaning or goes away."""

HOURS_PER_MONTH = 730
"""Hours in a billing month. Source: AWS Pricing Calculator convention, 2026-08."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """One choice with its reason. `subject` is a key path (`pools.train.placement_group`)."""

    subject: str
    choice: str
    because: str
    source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityPlan:
    """Where a node group's instances come from; one row of the capacity-modes table, applied."""

    mode: str
    """on-demand | spot | reserved | capacity-block"""
    reservation_id: str | None = None
    """`cr-...`, or None where no reservation is used or its id is not known yet."""
    reservation_group_arn: str | None = None
    market_type: str | None = None
    """Launch-template market option: `capacity-block`, `spot` (by the node group) or None."""
    eks_capacity_type: str = "ON_DEMAND"
    """ON_DEMAND | SPOT | CAPACITY_BLOCK, as EKS spells it."""
    quota: str | None = None
    """Quota code of the vCPU quota that this mode consumes; None where none counts."""
    starts: str | None = None
    ends: str | None = None
    """ISO dates of a dated reservation, as the user gave them."""
    max_usd_per_hour: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkInterfacePlan:
    """One network interface of every instance in a node group."""

    network_card: int
    device_index: int
    interface_type: str
    """interface (ENA) | efa (ENA and EFA) | efa-only"""
    takes_address: bool

    @property
    def is_efa(self) -> bool:
        """Whether traffic by EFA goes through this interface."""
        return self.interface_type in ("efa", "efa-only")


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintPlan:
    """A node taint. `effect` in Kubernetes' spelling: NoSchedule | PreferNoSchedule | NoExecute."""

    key: str
    value: str
    effect: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RootVolumePlan:
    """The encrypted root volume of each instance."""

    gib: int
    volume_type: str
    iops: int | None = None
    throughput_mb_s: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BootHookPlan:
    """A script that runs at boot, with its content's SHA-256."""

    name: str
    when: str
    """before-join | after-join"""
    content: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatePlan:
    """How a node group is changed: see the capacity-modes table for the surge."""

    strategy: str
    """rolling | replace-one-by-one | blue-green | never"""
    max_unavailable: int | None = None
    max_unavailable_pct: int | None = None
    surge: int = 0
    drain_minutes: int = 15
    window: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeGroupPlan:
    """One EKS managed node group (or the one instance of a workstation): a resource for all its nodes."""

    name: str
    """Unique in the plan; `<pool>-<letter or zone>`."""
    pool: str
    instance_type: str
    instance_types: tuple[str, ...]
    """All types in order of wish; more than one only where the mode allows."""
    instances: int
    """Desired size at plan time."""
    min_instances: int
    max_instances: int
    availability_zones: tuple[str, ...]
    availability_zone: str
    """The one zone, or "" for a group over several zones."""
    capacity: CapacityPlan
    placement_group: str | None
    """Name of the cluster placement group, or None for none."""
    owns_placement_group: bool
    """Whether the plan creates that placement group."""
    network_interfaces: tuple[NetworkInterfacePlan, ...]
    efa_interfaces: int
    """EFA interfaces on each instance."""
    subnets: tuple[str, ...]
    """Names of subnets in `network.subnets`."""
    subnet: str
    labels: dict[str, str]
    taints: tuple[TaintPlan, ...]
    tags: dict[str, str]
    image: str
    """Name of the image in `images`."""
    root_gib: int
    root_volume: RootVolumePlan
    update: UpdatePlan
    gpus: int
    """GPUs of the whole group at its desired size."""
    rack: str | None = None
    """The NVLink rack (UltraServer) this group is, where the type is rack-scale."""
    opens: str | None = None
    """ISO date when a group declared at 0 may grow (its Capacity Block opens)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SharingPlan:
    """How one GPU is shared: MIG profiles on each GPU, or time slices."""

    mig_profiles: tuple[str, ...] = ()
    time_slices: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BucketAccessPlan:
    """Buckets that the pods or nodes of a pool may read or write, by name."""

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolPlan:
    """A pool: nodes of one purpose; its node groups differ by capacity source or zone only."""

    name: str
    role: str
    """gpu | system | login | database | cpu"""
    instance_type: str
    architecture: str
    gpu_model: str | None
    gpus_per_node: int
    nodes: int
    min_nodes: int
    max_nodes: int
    gpus: int
    vcpu_per_node: int
    memory_gib_per_node: float
    efa: bool
    efa_interfaces_per_node: int
    addresses_per_node: int
    """Interface addresses per node (without pod addresses)."""
    cooling_zone: str | None
    image: str
    kw_per_node: float | None
    usd_per_node_hour: float | None
    node_groups: tuple[NodeGroupPlan, ...]
    sharing: SharingPlan = SharingPlan()
    boot: tuple[BootHookPlan, ...] = ()
    node_settings: dict[str, str] = field(default_factory=dict)
    """Node tuning that reaches the node's configuration: `kubelet.*`, `sysctl.*`, `limits.*`, `threads_per_core`."""
    local_nvme_role: str = "none"
    local_nvme_path: str | None = None
    pre_pull: tuple[str, ...] = ()
    buckets: BucketAccessPlan = BucketAccessPlan()
    policies: tuple[str, ...] = ()
    pod_identities: tuple[str, ...] = ()
    """`namespace/service-account` pairs that get the pool's permissions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubnetPlan:
    """One subnet: sized from what the plan puts into it."""

    name: str
    cidr: str
    availability_zone: str
    role: str
    """public | system | gpu | pods | existing"""
    usable_addresses: int | None
    needed_addresses: int
    existing_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PortPlan:
    """An extra inbound rule that the user asked for."""

    protocol: str
    from_port: int
    to_port: int
    cidr: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPlan:
    """The VPC and everything addressed in it."""

    existing_vpc_id: str | None
    cidr: str
    pod_cidr: str | None
    """Secondary block for pod addresses, or None where pods share the node subnets."""
    availability_zones: tuple[str, ...]
    subnets: tuple[SubnetPlan, ...]
    egress: str
    """nat | endpoints"""
    nat_gateways: int
    endpoints: tuple[str, ...]
    """Short service names of VPC endpoints (`s3`, `ecr.api`, `ssm`, ...)."""
    extra_security_groups: tuple[str, ...]
    ports: tuple[PortPlan, ...]
    flow_log_retention_days: int
    efa: bool
    """Whether a self-referencing EFA security group is needed."""
    lustre: bool
    """Whether the Lustre ports are needed between nodes and file systems."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonPlan:
    """An EKS add-on by pinned version."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessPlan:
    """Who may do what, by EKS access entries."""

    principal_arn: str
    policy: str
    """admin | edit | view"""
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KubernetesPlan:
    """The EKS control plane."""

    version: str
    private_endpoint: bool
    public_endpoint_cidrs: tuple[str, ...]
    addons: tuple[AddonPlan, ...]
    operators: tuple[AddonPlan, ...]
    access: tuple[AccessPlan, ...]
    log_types: tuple[str, ...]
    log_retention_days: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoragePlan:
    """One store, sized."""

    name: str
    kind: str
    """lustre | efs | s3 | ebs | local-nvme"""
    role: str
    """home | scratch | datasets | checkpoints"""
    mount_path: str
    existing_id: str | None
    gib: int | None
    availability_zone: str | None
    deployment_type: str | None
    tier_mb_s_per_tib: int | None
    throughput_gb_s: float | None
    efa: bool
    metadata_iops: int | None
    compression: str | None
    data_repository: str | None
    """Name of the bucket store that a Lustre file system imports from and exports to."""
    volume_type: str | None
    iops: int | None
    throughput_mb_s: int | None
    backup_days: int
    protect: bool
    cache_profile: str | None
    usd_per_hour: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePlan:
    """One pinned software layer of nodes."""

    name: str
    framework: str | None
    framework_version: str | None
    architecture: str
    source: str
    """eks-release (AMI family and release version) | ami-id | ami-name (exact, dated name of one AMI) | built"""
    ami_type: str | None
    """EKS's AMI type, e.g. AL2023_x86_64_NVIDIA."""
    release_version: str | None
    ami_id: str | None
    ami_name: str | None
    ami_owner: str | None
    container: str | None
    """Container image with its digest or exact version."""
    gib: int
    """Root space that the image itself needs."""
    components: dict[str, str]
    """What is inside: driver, cuda, efa, nccl, ... by version; a version that is not known is absent."""
    environment: dict[str, str]
    """Precision and communication settings for the GPU generation, written to nodes and pods."""
    because: str
    reference: str
    build: "ImageBuildPlan | None" = None
    """How its successor is built; the nodes run what is pinned above, whether it was built here or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBuildPlan:
    """
    How an image of one's own is built, once somebody starts its pipeline; nothing starts by itself.

    Every document follows from these values. Pinning the AMI that came out as `ami_id` moves the nodes and changes
    nothing here, or each build would ask for the next.
    """

    name: str
    """Pipeline, recipe and components are called `gpukit-<name>`."""
    base: ImagePlan
    """The release, or the AMI by exact name, that it is built on, with settings and what is inside."""
    parent_name: str
    """Exact, dated name of that one AMI."""
    parent_owner: str
    packages: dict[str, str]
    """More Python packages, by exact version."""
    recipe_version: str
    """Follows from parent and components."""
    component_versions: dict[str, str]
    """Component -> version, which follows from its document."""
    repository: str | None
    """Repository of the container; None where there is no container to build on."""
    container_tag: str | None
    """Follows from the container's build context."""
    subnet: str | None = None
    """Subnet of the builder, by name in `network.subnets`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoolingZonePlan:
    """Where heat can go."""

    name: str
    method: str
    """air | liquid | hybrid | immersion"""
    availability_zone: str | None
    racks: int | None
    envelope_kw: float | None
    nodes: int
    gpus: int
    it_kw: float | None
    kw_per_rack: float | None
    used_pct: float | None
    pools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkstationPlan:
    """What only a single node has."""

    data_volume_gib: int
    data_mount_path: str
    idle_stop_minutes: int
    jupyter: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """What may be spent."""

    hourly_usd: float | None
    monthly_usd: float | None
    notify: tuple[str, ...]
    alert_pct: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitLine:
    """One quota or hard limit: how much of it the plan uses."""

    id: str
    what: str
    used: float | None
    limit: float | None
    pct: float | None
    verdict: str
    """fine | warning | error | unknown | not-counted"""
    unit: str
    quota_code: str | None
    scope: str
    how_to_raise: str
    because: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CostLine:
    """One line of the bill at list price."""

    subject: str
    quantity: float | None
    unit: str
    unit_usd_per_hour: float | None
    hourly_usd: float | None
    monthly_usd: float | None
    source: str
    as_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotBuilt:
    """A section that was read and planned, and that this version does not build."""

    section: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """The numbers people decide by. Nodes and node groups are GPU nodes; helpers are counted apart."""

    gpus: int
    nodes: int
    node_groups: int
    efa_interfaces: int
    helper_nodes: int
    hourly_usd: float | None
    monthly_usd: float | None
    unpriced: int
    """Cost lines without a known price; the sums above leave them out."""
    it_kw: float | None
    facility_kw: float | None
    kgco2e_per_month: float | None
    dense_bf16_pflops: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Everything that will exist, and why."""

    schema_version: int = SCHEMA_VERSION
    name: str
    kind: str
    """workstation | cluster | existing-cluster"""
    preset: str | None
    environment: str
    team: str | None
    region: str
    tags: dict[str, str]
    protect: bool
    ends: str | None
    """ISO date after which the stack should be gone."""
    totals: Totals
    pools: tuple[PoolPlan, ...]
    """GPU pools."""
    helper_pools: tuple[PoolPlan, ...]
    network: NetworkPlan
    kubernetes: KubernetesPlan | None
    workstation: WorkstationPlan | None
    storage: tuple[StoragePlan, ...]
    images: tuple[ImagePlan, ...]
    cooling_zones: tuple[CoolingZonePlan, ...]
    budget: BudgetPlan
    costs: tuple[CostLine, ...]
    limits: tuple[LimitLine, ...]
    not_built: tuple[NotBuilt, ...]
    decisions: tuple[Decision, ...]

    @property
    def all_pools(self) -> tuple[PoolPlan, ...]:
        """GPU pools first, then helper pools."""
        return self.pools + self.helper_pools

    def image(self, name: str) -> ImagePlan:
        """Return the image of that name; KeyError where the plan has none."""
        return next(image for image in self.images if image.name == name)


def to_jsonable(value: Any) -> Any:
    """Return dataclasses, tuples and dicts as plain JSON values; floats are rounded to 6 digits."""
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: to_jsonable(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, (tuple, list)):
        return [to_jsonable(item) for item in value]
    if isinstance(value, dict):
        return {str(key): to_jsonable(item) for key, item in value.items()}
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 1e15 else round(value, 6)
    return value


def render_plan_json(plan: Plan) -> str:
    """Return the plan as sorted, indented JSON: the same bytes for the same plan."""
    import json

    return json.dumps(to_jsonable(plan), indent=2, sort_keys=True, ensure_ascii=False) + "\n"
