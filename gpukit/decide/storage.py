"""Size storage from the workload: throughput from checkpoints and reading, capacity from what is kept."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gpukit.plan import HOURS_PER_MONTH, Decision, StoragePlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.catalog.storage import StorageOffer
    from gpukit.spec.model import StorageSpec, WorkloadSpec

GIB: Final = 2**30
_WEIGHT_BYTES: Final = {"fp32": 4, "fp16": 2, "bf16": 2, "fp8": 1}
_FREE_SHARE: Final = 1.2
"""A Lustre file system slows down and fills unevenly when it is nearly full."""
_DEFAULT_GIB_PER_GPU: Final = 150
"""Without a workload: room for a working set, in GiB a GPU; `explain` names it as an assumption."""
_DEFAULT_MB_S_PER_GPU: Final = 20
"""Without a workload: reading by a data loader, in MB/s a GPU; `explain` names it as an assumption."""
_DEFAULT_EBS_GIB: Final = 500
_ENA_LIMIT_GB_S: Final = 10.0
"""Above this throughput Lustre should use EFA. Source: FSx for Lustre User Guide, "EFA-enabled file systems"."""
_MOUNTS: Final = {"home": "/home", "scratch": "/scratch", "datasets": "/datasets", "checkpoints": "/checkpoints"}


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageNeed:
    """What the workload asks of the fast file system."""

    gib: float
    gb_s: float
    because: str
    dataset_gib: float = 0.0


def measure_need(workload: "WorkloadSpec | None", gpus: int) -> StorageNeed:
    """
    Return capacity and throughput that the workload needs.

    70e9 parameters in BF16 with Adam: (2 + 12) x 70e9 = 980 GB a checkpoint; written in 60 s = 16.3 GB/s.
    """
    if workload is None:
        return StorageNeed(
            gib=_DEFAULT_GIB_PER_GPU * max(gpus, 1),
            gb_s=_DEFAULT_MB_S_PER_GPU * max(gpus, 1) / 1000,
            because="no workload is stated: "
            f"{_DEFAULT_GIB_PER_GPU} GiB and {_DEFAULT_MB_S_PER_GPU} MB/s a GPU are assumed",
        )
    told: list[str] = []
    write = read = 0.0
    kept = 0.0
    if workload.parameters is not None:
        per_parameter = _WEIGHT_BYTES[str(workload.precision)] + workload.optimizer_bytes_per_parameter
        checkpoint = workload.parameters * per_parameter
        write = checkpoint / workload.checkpoint_seconds / 1e9
        kept = checkpoint * workload.checkpoints_kept / GIB
        told.append(
            f"{workload.parameters / 1e9:,.4g}e9 parameters x {per_parameter} bytes = {checkpoint / 1e9:,.0f} GB "
            f"a checkpoint, in {workload.checkpoint_seconds:g} s = {write:,.1f} GB/s; "
            f"{workload.checkpoints_kept} are kept = {kept:,.0f} GiB"
        )
    per_gpu = workload.read_mb_s_per_gpu if workload.read_mb_s_per_gpu is not None else _DEFAULT_MB_S_PER_GPU
    read = per_gpu * max(gpus, 1) / 1000
    told.append(f"{gpus:,} GPUs read {per_gpu:g} MB/s each = {read:,.1f} GB/s")
    data = workload.dataset_gib or 0.0
    if data:
        told.append(f"the dataset is {data:,.0f} GiB")
    return StorageNeed(
        gib=(kept + data) * _FREE_SHARE, gb_s=max(write, read), because="; ".join(told), dataset_gib=data
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LustreChoice:
    """One legal way to meet a need."""

    offer: "StorageOffer"
    gib: int
    gb_s: float
    usd_per_month: float | None


def choose_lustre(
    need: StorageNeed,
    *,
    efa_clients: bool,
    catalog: "Catalog",
    tier: int | None = None,
    gib: int | None = None,
    efa: bool | None = None,
    deployment_type: str | None = None,
) -> LustreChoice | None:
    """
    Return the cheapest legal tier and capacity that meet the need; what the user typed in is kept.

    EFA is used where clients have it and the throughput is above what ENA carries well. None where no offer fits.
    """
    wanted_efa = efa if efa is not None else efa_clients and need.gb_s > _ENA_LIMIT_GB_S
    choices: list[LustreChoice] = []
    for offer in catalog.storage_offers("lustre"):
        if offer.storage_class != "SSD" or offer.tier_mb_s_per_tib is None:
            continue
        if offer.deployment_type != (deployment_type or "PERSISTENT_2") or bool(offer.efa) != wanted_efa:
            continue
        if tier is not None and offer.tier_mb_s_per_tib != tier:
            continue
        wanted_gib = max(need.gib, need.gb_s * 1000 / offer.tier_mb_s_per_tib * 1024)
        size = gib if gib is not None else offer.round_up_gib(wanted_gib)
        if size is None:
            continue
        price = offer.usd_per_gb_month
        choices.append(
            LustreChoice(
                offer=offer,
                gib=size,
                gb_s=size / 1024 * offer.tier_mb_s_per_tib / 1000,
                usd_per_month=size * price if price is not None else None,
            )
        )
    if not choices:
        return None
    return min(choices, key=lambda choice: (choice.usd_per_month is None, choice.usd_per_month or 0, choice.gib))


def plan_store(
    name: str,
    spec: "StorageSpec",
    *,
    need: StorageNeed,
    zone: str | None,
    efa_clients: bool,
    protect: bool,
    catalog: "Catalog",
) -> tuple[StoragePlan, list[Decision]]:
    """Return one store with its size decided, and the arithmetic."""
    kind = str(spec.kind)
    store = StoragePlan(
        name=name,
        kind=kind,
        role=str(spec.role),
        mount_path=spec.mount_path or _MOUNTS[str(spec.role)],
        existing_id=spec.existing,
        gib=spec.gib,
        availability_zone=spec.availability_zone or (zone if kind in ("lustre", "ebs") else None),
        deployment_type=None,
        tier_mb_s_per_tib=spec.throughput_tier,
        throughput_gb_s=None,
        efa=bool(spec.efa),
        metadata_iops=spec.metadata_iops,
        compression=None,
        data_repository=spec.data_repository,
        volume_type=spec.volume_type,
        iops=spec.iops,
        throughput_mb_s=spec.throughput_mb_s,
        backup_days=spec.backup_days,
        protect=protect,
        cache_profile=spec.cache,
        usd_per_hour=None,
    )
    if spec.existing is not None:
        because = "it exists: gpukit mounts it and never changes or deletes it"
        return store, [Decision(subject=f"storage.{name}", choice=spec.existing, because=because)]
    if kind == "lustre":
        return _size_lustre(store, spec, need=need, efa_clients=efa_clients, catalog=catalog)
    if kind == "ebs":
        return _size_ebs(store, catalog), []
    if kind == "s3" and store.gib is None and need.dataset_gib:
        store = replace(store, gib=int(need.dataset_gib + 0.5))
    because = "nothing has to be sized: it grows with what is in it"
    return store, [Decision(subject=f"storage.{name}", choice=kind, because=because)]


def _size_lustre(
    store: StoragePlan, spec: "StorageSpec", *, need: StorageNeed, efa_clients: bool, catalog: "Catalog"
) -> tuple[StoragePlan, list[Decision]]:
    deployment_type = spec.deployment_type or "PERSISTENT_2"
    choice = choose_lustre(
        need,
        efa_clients=efa_clients,
        catalog=catalog,
        tier=spec.throughput_tier,
        gib=spec.gib,
        efa=spec.efa,
        deployment_type=deployment_type,
    )
    store = replace(store, deployment_type=deployment_type, compression="LZ4")
    if choice is None:
        # the checks name the legal tiers; the plan keeps what the user typed
        return store, []
    persistent = deployment_type == "PERSISTENT_2"
    sized = replace(
        store,
        gib=choice.gib,
        tier_mb_s_per_tib=choice.offer.tier_mb_s_per_tib,
        throughput_gb_s=choice.gb_s,
        efa=bool(choice.offer.efa),
        metadata_iops=spec.metadata_iops or (automatic_metadata_iops(choice.gib, catalog) if persistent else None),
        usd_per_hour=choice.usd_per_month / HOURS_PER_MONTH if choice.usd_per_month is not None else None,
    )
    asked = f"; the cheapest legal size that gives {need.gib:,.0f} GiB and {need.gb_s:,.1f} GB/s"
    decision = Decision(
        subject=f"storage.{store.name}",
        choice=f"{choice.gib:,} GiB at {choice.offer.tier_mb_s_per_tib} MB/s per TiB = {choice.gb_s:,.1f} GB/s"
        + (", by EFA" if choice.offer.efa else ""),
        because=need.because + (asked if spec.gib is None else "; the stack file states the size"),
        source=choice.offer.source,
    )
    return sized, [decision]


def _size_ebs(store: StoragePlan, catalog: "Catalog") -> StoragePlan:
    gib = store.gib or _DEFAULT_EBS_GIB
    volume_type = store.volume_type or "gp3"
    offer = next((item for item in catalog.storage_offers("ebs") if item.storage_class.split()[0] == volume_type), None)
    price = offer.usd_per_gb_month if offer is not None else None
    usd = gib * price / HOURS_PER_MONTH if price is not None else None
    return replace(store, gib=gib, volume_type=volume_type, usd_per_hour=usd)


def automatic_metadata_iops(gib: int, catalog: "Catalog") -> int | None:
    """Return what FSx provisions by itself for a PERSISTENT_2 SSD file system of that capacity; None if unknown."""
    for row in catalog.metadata_iops():
        if row.mode != "AUTOMATIC" or row.key != "storage_capacity_gib" or row.key_min is None or gib < row.key_min:
            continue
        if row.key_max is None:
            per, step = (int(number) for number in re.findall(r"\d+", row.rule)[:2])
            return -(-gib // step) * per
        if gib <= row.key_max:
            return row.metadata_iops
    return None
