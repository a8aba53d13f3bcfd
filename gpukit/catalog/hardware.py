"""Rows about machines: instance types, network cards, GPUs, UltraServers and their power."""

from dataclasses import dataclass

from gpukit.catalog.fact import Filled


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """
    One EC2 instance type with GPUs. None means unknown, never zero.

    Prices are on-demand list prices for Linux in us-east-1, in USD.
    """

    name: Filled
    family: Filled
    vcpu: int
    memory_gib: float | None
    gpu_model: Filled
    """A row of the GPU models."""
    gpu_count: float
    """Whole GPUs, or a fraction of one where the type shares it (g6f, gr6f)."""
    gpu_memory_gb_each: float
    """As sold; the GPU model holds doubts where vendors count differently."""
    nvlink: bool | None
    nvlink_generation: int | None
    nvlink_gb_s_per_gpu: float | None
    """Both directions together."""
    nvswitch: bool | None
    nvlink_domain_gpus: int | None
    """GPUs that reach each other by NVLink; for rack-scale types more than the instance has."""
    network_gbps: float | None
    network_gbps_baseline: float | None
    network_cards: int | None
    max_efa_interfaces: int | None
    """What the API allows; the layout to use is in the network cards."""
    efa_generation: int | None
    efa_on_card0: bool | None
    rdma_read: bool | None
    rdma_write: bool | None
    gpudirect_rdma: bool | None
    local_nvme_count: int | None
    local_nvme_gb_each: float | None
    architecture: Filled
    """x86_64 | arm64"""
    hypervisor: str
    nitro_version: str
    usd_per_hour_on_demand: float | None
    usd_per_hour_spot: float | None
    price_as_of: str
    capacity_block: str
    """yes | no | only | "" for unknown"""
    spot: bool | None
    max_enis: int | None
    """Over all network cards."""
    ipv4_per_eni: int | None
    default_card_max_enis: int | None
    max_pods: int | None
    """EKS formula over the default card: ENIs x (addresses - 1) + 2."""
    ebs_mbps_baseline: int | None
    ebs_mbps_max: int | None
    ebs_max_volumes: int | None
    quota_code_on_demand: str
    quota_code_spot: str
    placement_group_strategies: tuple[str, ...]
    ultraserver_only: bool | None
    liquid_only: bool
    status: Filled
    """current | previous (sold, API calls it a previous generation) | legacy | announced"""
    source: Filled
    as_of: Filled
    doubts: str = ""

    @property
    def supports_efa(self) -> bool:
        """Whether the type is known to take at least one EFA interface."""
        return bool(self.max_efa_interfaces)

    @property
    def local_nvme_gb(self) -> float | None:
        """All local NVMe of one instance, in GB; 0 where the type has none."""
        if self.local_nvme_count == 0:
            return 0.0
        if self.local_nvme_count is None or self.local_nvme_gb_each is None:
            return None
        return self.local_nvme_count * self.local_nvme_gb_each


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCardRange:
    """Network cards of a type that are alike, as the table writes them."""

    instance_type: Filled
    card_from: int
    card_to: int
    max_enis: int | None
    interface_types: tuple[str, ...]
    efa_gbps: float | None
    ena_gbps: float | None
    efa_default: bool
    efa_default_device_index: int | None
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkCard:
    """
    One network card of an instance type.

    The default layout is the EC2 guide's: the primary interface (card 0, device 0) is a plain `interface`; each card
    with `efa_default` takes one `efa-only` interface at `efa_default_device_index`.
    """

    instance_type: Filled
    index: int
    max_enis: int | None
    """0 where the API lists the card but no interface may be attached to it."""
    interface_types: tuple[str, ...]
    """Of interface, efa, efa-only."""
    efa_gbps: float | None
    ena_gbps: float | None
    efa_default: bool
    efa_default_device_index: int | None
    source: Filled
    as_of: Filled
    doubts: str = ""

    @property
    def supports_efa(self) -> bool:
        """Whether an EFA interface of either kind may be attached."""
        return "efa" in self.interface_types or "efa-only" in self.interface_types


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuModel:
    """
    One GPU. Rates are dense (without sparsity) per GPU; 0 means that the precision is not supported, None unknown.
    """

    model: Filled
    architecture: Filled
    form_factor: str
    compute_capability: str
    memory_gb: float
    memory_type: str
    memory_bandwidth_gb_s: float | None
    dense_bf16_tflops: float | None
    dense_fp16_tflops: float | None
    dense_fp8_tflops: float | None
    dense_fp4_tflops: float | None
    precisions: tuple[str, ...]
    """Of fp32, tf32, fp16, bf16, fp8, fp4: what the tensor or shader units take."""
    tdp_w: float | None
    interconnect: str
    nvlink_generation: int | None
    nvlink_links: int | None
    interconnect_gb_s: float | None
    """Both directions together."""
    mig: bool
    mig_max_instances: int | None
    mig_profiles: tuple[str, ...]
    mig_counts: tuple[int, ...]
    """How many of each profile fit on one GPU, in the order of `mig_profiles`."""
    cooling: tuple[str, ...]
    """Of air, liquid: how it is shipped."""
    liquid_only: bool
    liquid_available: bool
    open_kernel_modules: str
    """no | yes | required"""
    aws_families: tuple[str, ...]
    source: Filled
    as_of: Filled
    confidence: str
    """sourced | mixed | memory"""
    doubts: str = ""

    def mig_count(self, profile: str) -> int | None:
        """Return how many instances of the profile fit on one GPU; None where the GPU has no such profile."""
        return dict(zip(self.mig_profiles, self.mig_counts, strict=True)).get(profile)


@dataclass(frozen=True, slots=True, kw_only=True)
class UltraServer:
    """A rack-scale unit that is sold whole: its instances share one NVLink domain."""

    name: Filled
    instances: int
    instance_type: Filled
    gpus: int
    vcpu: int | None
    memory_gib: float | None
    gpu_memory_gb: float | None
    nvlink_tb_s: float | None
    efa_gbps: float | None
    ebs_gbps: float | None
    local_nvme_tb: float | None
    fp8_dense_pflops: float | None
    racks: float
    purchase: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HelperType:
    """An instance type without GPUs, for system, login and CPU pools. The price is in the prices as `ec2/<name>`."""

    name: Filled
    family: Filled
    vcpu: int
    memory_gib: float
    architecture: Filled
    network_gbps: float
    max_enis: int
    ipv4_per_eni: int
    max_pods: int
    ebs_mbps_max: int | None
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePower:
    """Electrical power of one instance's share of its server at full load, in kW."""

    instance_type: Filled
    kw: float
    kind: Filled
    """vendor-maximum | estimate"""
    basis: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPower:
    """Measured or stated power of a server, rack, GPU or part, in watts."""

    system: Filled
    scope: str
    gpus: float
    power_w: float
    basis: str
    idle_or_avg_w: str
    confidence: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerRule:
    """How a node's power is derived: a share of a known server, or its parts times an overhead."""

    id: Filled
    applies_to: tuple[str, ...]
    method: str
    """server-share | parts"""
    system: str
    share: float | None
    overhead: float | None
    w_per_vcpu: float | None
    w_per_gib: float | None
    source: Filled
    as_of: Filled
    doubts: str = ""
