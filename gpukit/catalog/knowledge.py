"""Rows of practice: component versions, settings, benchmarks, failures, published trainings."""

from dataclasses import dataclass

from gpukit.catalog.fact import Filled


@dataclass(frozen=True, slots=True, kw_only=True)
class K8sComponent:
    """A Kubernetes add-on or tool at the version that was current."""

    component: Filled
    chart: str
    chart_repo: str
    chart_version: str
    app_version: str
    version_date: str
    note: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclEnvRule:
    """What to do with one environment variable: set, set only if, set if, forbid, leave, optional, flag, unneeded."""

    variable: Filled
    value: str
    action: str
    condition: str
    reason: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NcclPlatform:
    """What the EFA plugin for NCCL does by itself on a family; the first row whose pattern matches counts."""

    position: int
    platform: str
    match_regex: str
    protocol: str
    gdr_required: bool
    latency_us: float
    dup_connections: int
    topology_file: str
    efa_hw_counters_gdaki: bool
    env_set_by_plugin: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BusBandwidth:
    """A measured or expected bus bandwidth of a collective, in GB/s."""

    platform: str
    provider: str
    gpus_per_node: int
    nodes: str
    collective: str
    message: str
    bus_gb_s: float
    kind: Filled
    date: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class OsSetting:
    """One setting of the operating system or the pod, and where it applies."""

    area: str
    key: str
    value: str
    applies_to: str
    reason: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureRate:
    """Interruptions by cause that a published training counted."""

    study: str
    cause: str
    count: float | None
    days: float | None
    gpus: int | None
    unit: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingPoint:
    """A published training throughput."""

    study: str
    model: Filled
    params_b: float | None
    hidden: int | None
    layers: int | None
    heads: int | None
    seq: int | None
    vocab: int | None
    accelerator: str
    accelerators: int | None
    dp: int | None
    global_batch: str
    layout: str
    tflops_per_accelerator: float | None
    utilization_pct: float | None
    utilization_kind: str
    aggregate_pflops: float | None
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRun:
    """A whole published training: model, tokens, hours, energy, carbon."""

    model: Filled
    params: float | None
    tokens: float | None
    flops: float | None
    accelerator: str
    accelerator_hours: float | None
    implied_tflops: float | None
    implied_mfu_pct: float | None
    power_w_per_accelerator: float | None
    energy_mwh: float | None
    pue: float | None
    tco2e_location_based: float | None
    implied_gco2_per_kwh_it: float | None
    source: Filled
    as_of: Filled
    doubts: str = ""
