"""
From what a user names to a plan with findings: the line of data of the whole toolkit.

`make_plan` is pure. The functions above it read files and tell every mistake in them, so that a mistake in one section
does not hide those in the others.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gpukit.decide.cooling import add_up_cooling_zones, carbon_kg_per_month, facility_power_kw, it_power_kw
from gpukit.decide.cost import price_plan, sum_known
from gpukit.decide.network import plan_network
from gpukit.decide.pools import PoolContext, choose_efa, plan_pool, pool_instance_types
from gpukit.decide.storage import measure_need, plan_store
from gpukit.decide.zones import choose_control_plane_zones, zone_names
from gpukit.finding import Finding, Severity, sort_findings
from gpukit.plan import (
    HOURS_PER_MONTH,
    BudgetPlan,
    Decision,
    KubernetesPlan,
    NotBuilt,
    Plan,
    PoolPlan,
    StoragePlan,
    Totals,
    WorkstationPlan,
)

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.spec.model import BootHookSpec, ClusterSpec
    from gpukit.stackfile import StackInput

DEFAULT_REGION = "us-east-1"
_EKS_DRAIN_MINUTES = 15
"""Time that a managed node group gives a node to drain. Source: EKS User Guide, "Update behavior"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanResult:
    """
    What came out of an input.

    `spec` and `plan` are there as far as the input can be understood; `unreadable` tells that mistakes of form were
    found (exit code 2). `findings` holds mistakes of form, names that lead nowhere, and images that do not exist; the
    rules of `gpukit.checks` come on top.
    """

    input: "StackInput"
    spec: "ClusterSpec | None"
    plan: Plan | None
    findings: tuple[Finding, ...]
    unreadable: bool
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A plan, and what could not be decided in it."""

    plan: Plan
    findings: tuple[Finding, ...] = field(default=())


def plan_from_file(
    file: Path,
    *,
    preset: str | None = None,
    sets: tuple[str, ...] = (),
    today: date | None = None,
    catalog: "Catalog | None" = None,
) -> PlanResult:
    """Return the plan of a cluster file or a Pulumi stack file."""
    from gpukit.stackfile import read_file

    return plan_from_input(read_file(file, preset=preset, sets=sets), today=today, catalog=catalog)


def plan_from_preset(
    preset: str, *, sets: tuple[str, ...] = (), today: date | None = None, catalog: "Catalog | None" = None
) -> PlanResult:
    """Return the plan of a preset alone."""
    from gpukit.stackfile import read_preset

    return plan_from_input(read_preset(preset, sets=sets), today=today, catalog=catalog)


def plan_from_mapping(
    mapping: Any,
    *,
    preset: str | None = None,
    region: str | None = None,
    file: str | None = None,
    today: date | None = None,
    catalog: "Catalog | None" = None,
) -> PlanResult:
    """
    Return the plan of a mapping that is parsed already (Pulumi configuration).

    `file` is the stack file that it came from; where it can be read, findings carry line and column in it.
    """
    from gpukit.spec.document import parse_document
    from gpukit.stackfile import read_mapping

    path = Path(file) if file else None
    document = None
    if path is not None and path.is_file():
        document = parse_document(path.read_text(encoding="utf-8"), file=str(path))
    given = read_mapping(
        mapping, preset=preset, region=region, document=document, folder=path.parent if path is not None else None
    )
    return plan_from_input(given, today=today, catalog=catalog)


def plan_from_input(given: "StackInput", *, today: date | None = None, catalog: "Catalog | None" = None) -> PlanResult:
    """Return spec, plan and all mistakes of an input."""
    from gpukit.catalog import load_catalog
    from gpukit.spec.parse import parse_spec
    from gpukit.spec.references import check_references

    if given.mapping is None and given.findings:
        return PlanResult(input=given, spec=None, plan=None, findings=given.findings, unreadable=True)
    catalog = catalog or load_catalog()
    parsed = parse_spec(given.mapping)
    findings = [*given.findings, *parsed.findings]
    unreadable = bool(findings)
    spec, plan = parsed.spec, None
    if spec is not None:
        spec, missing = _read_boot_files(spec, given.folder)
        findings.extend(missing)
        found, kept = check_references(spec, catalog)
        # a value that was left out as unreadable is reported once, not again as a name that leads nowhere
        findings.extend(item for item in found if not is_under(item.path, parsed.left_out))
        if kept.pools or str(kept.kind) == "existing-cluster":
            planned = make_plan(kept, catalog, preset=given.preset, today=today)
            plan = planned.plan
            findings.extend(planned.findings)
        elif not spec.pools and not parsed.left_out:
            findings.append(_nothing_to_plan())
            unreadable = True
    placed = (item if item.position else item.at(given.locate(item.path)) for item in findings)
    return PlanResult(
        input=given,
        spec=spec,
        plan=plan,
        findings=sort_findings(placed),
        unreadable=unreadable,
        left_out=parsed.left_out,
    )


def make_plan(
    spec: "ClusterSpec", catalog: "Catalog", *, preset: str | None = None, today: date | None = None
) -> Planned:
    """
    Decide everything that follows from a spec: the same plan, byte for byte, for the same arguments.

    `today` is only used to hold back the node groups of blocks that open later; None treats every block as open.
    """
    from gpukit.decide.images import choose_images, place_builders
    from gpukit.decide.limits import compute_limits

    region = spec.region or DEFAULT_REGION
    kind = str(spec.kind)
    decisions: list[Decision] = []
    if spec.region is None:
        because = "no region is stated; the catalogue's prices are of this one"
        decisions.append(Decision(subject="region", choice=region, because=because))
    tags = _stack_tags(spec)
    preferred = zone_names(spec.network.availability_zones, region, catalog)
    context = PoolContext(
        spec=spec,
        region=region,
        catalog=catalog,
        today=today,
        preferred_zones=preferred or tuple(sorted(spec.network.existing.subnets) if spec.network.existing else ()),
        helper_zones=(),
        tags=tags,
        existing_network=spec.network.existing is not None,
    )
    kubernetes, efa, kubernetes_decisions = _control_plane(spec, kind, decisions, catalog)
    images = choose_images(
        spec,
        region=region,
        kubernetes_version=kubernetes.version if kubernetes else None,
        efa=efa,
        catalog=catalog,
    )

    def plan_role(*, gpu: bool) -> tuple[PoolPlan, ...]:
        planned: list[PoolPlan] = []
        for name, wish in spec.pools.items():
            if (str(wish.role) == "gpu") == gpu:
                pool, reasons = plan_pool(name, wish, image=images.by_pool[name], efa=efa[name], context=context)
                planned.append(pool)
                decisions.extend(reasons)
        return tuple(planned)

    gpu_pools = plan_role(gpu=True)
    gpus = sum(pool.gpus_per_node * pool.max_nodes for pool in gpu_pools)
    gpu_zones = tuple(
        dict.fromkeys(zone for pool in gpu_pools for group in pool.node_groups for zone in group.availability_zones)
    )
    control_zones = choose_control_plane_zones(
        region, wanted=context.preferred_zones, gpu_zones=gpu_zones, catalog=catalog
    )
    if spec.network.existing:
        control_zones = tuple(sorted(spec.network.existing.subnets))
    context = replace(context, helper_zones=control_zones)
    helpers = plan_role(gpu=False)
    pools = gpu_pools + helpers
    need = measure_need(spec.workload, gpus)
    storage = []
    for name in spec.storage:
        store, reasons = plan_store(
            name,
            spec.storage[name],
            need=need,
            zone=gpu_zones[0] if gpu_zones else None,
            efa_clients=any(pool.efa for pool in gpu_pools),
            protect=spec.protect,
            catalog=catalog,
        )
        storage.append(store)
        decisions.extend(reasons)
    network, reasons = plan_network(
        spec.network,
        region=region,
        kind=kind,
        pools=pools,
        storage=storage,
        control_zones=control_zones,
        efa=any(pool.efa for pool in gpu_pools),
        catalog=catalog,
    )
    decisions.extend([*reasons, *kubernetes_decisions, *images.decisions])
    zones, reasons = add_up_cooling_zones(spec.cooling_zones, pools)
    decisions.extend(reasons)
    workstation = _workstation(spec, storage) if kind == "workstation" else None
    costs = (
        ()
        if kind == "existing-cluster"
        else price_plan(
            pools=pools,
            network=network,
            kubernetes=kubernetes,
            storage=storage,
            region=region,
            catalog=catalog,
        )
    )
    used_images = {image.name: image for image in place_builders(images.by_pool.values(), network)}
    # an existing cluster buys nothing, so it uses none of the account's limits
    bought = kind != "existing-cluster"
    limits = compute_limits(
        pools=gpu_pools if bought else (),
        helper_pools=helpers if bought else (),
        network=network,
        storage=storage if bought else (),
        kubernetes=kubernetes,
        images=tuple(used_images[name] for name in sorted(used_images)),
        catalog=catalog,
        own_limits=spec.limits,
    )
    it_kw = it_power_kw(gpu_pools)
    facility_kw, reason = facility_power_kw(it_kw, region, catalog)
    carbon, carbon_reason = carbon_kg_per_month(facility_kw, region, catalog, HOURS_PER_MONTH)
    pflops, pflops_reason = _dense_pflops(gpu_pools, catalog)
    decisions.extend([reason, carbon_reason, pflops_reason])
    plan = Plan(
        name=spec.name,
        kind=kind,
        preset=preset,
        environment=spec.environment,
        team=spec.team,
        region=region,
        tags=tags,
        protect=spec.protect,
        ends=spec.lifecycle.end_date.isoformat() if spec.lifecycle.end_date else None,
        totals=Totals(
            gpus=sum(pool.gpus for pool in gpu_pools),
            nodes=sum(pool.nodes for pool in gpu_pools),
            node_groups=sum(len(pool.node_groups) for pool in gpu_pools),
            efa_interfaces=sum(pool.efa_interfaces_per_node * pool.nodes for pool in gpu_pools),
            helper_nodes=sum(pool.nodes for pool in helpers),
            hourly_usd=sum_known([line.hourly_usd for line in costs]),
            monthly_usd=sum_known([line.monthly_usd for line in costs]),
            unpriced=sum(line.hourly_usd is None for line in costs),
            it_kw=it_kw,
            facility_kw=facility_kw,
            kgco2e_per_month=carbon,
            dense_bf16_pflops=pflops,
        ),
        pools=gpu_pools,
        helper_pools=helpers,
        network=network,
        kubernetes=kubernetes,
        workstation=workstation,
        storage=tuple(storage),
        images=tuple(used_images[name] for name in sorted(used_images)),
        cooling_zones=zones,
        budget=BudgetPlan(
            hourly_usd=spec.budget.hourly_usd,
            monthly_usd=spec.budget.monthly_usd,
            notify=tuple(spec.budget.notify),
            alert_pct=tuple(sorted(set(spec.budget.alert_pct))),
        ),
        costs=costs,
        limits=limits,
        not_built=_not_built(spec),
        decisions=tuple(sorted(decisions, key=lambda item: (item.subject, item.choice))),
    )
    return Planned(plan=plan, findings=images.findings)


def _control_plane(
    spec: "ClusterSpec", kind: str, decisions: list[Decision], catalog: "Catalog"
) -> tuple[KubernetesPlan | None, dict[str, bool], list[Decision]]:
    efa: dict[str, bool] = {}
    for name, pool in spec.pools.items():
        efa[name], reason = choose_efa(name, pool, instance_type=pool_instance_types(pool, catalog)[0], catalog=catalog)
        if str(pool.role) == "gpu":
            decisions.append(reason)
    if kind != "cluster":
        return None, efa, []
    from gpukit.decide.kubernetes import plan_kubernetes

    needs = {str(store.kind) for store in spec.storage.values()}
    needs |= {"gpu"} if any(str(pool.role) == "gpu" for pool in spec.pools.values()) else set()
    needs |= {"efa"} if any(efa.values()) else set()
    kubernetes, reasons = plan_kubernetes(spec, needs=frozenset(needs))
    return kubernetes, efa, reasons


def _stack_tags(spec: "ClusterSpec") -> dict[str, str]:
    tags = {"gpukit:stack": spec.name, "gpukit:environment": spec.environment}
    if spec.team:
        tags["gpukit:team"] = spec.team
    if spec.lifecycle.end_date:
        tags["gpukit:ends"] = spec.lifecycle.end_date.isoformat()
    return dict(sorted((tags | spec.tags).items()))


def _workstation(spec: "ClusterSpec", storage: Sequence[StoragePlan]) -> WorkstationPlan:
    data = next((store for store in storage if store.kind == "ebs" and store.existing_id is None), None)
    return WorkstationPlan(
        data_volume_gib=(data.gib or 0) if data else 0,
        data_mount_path=data.mount_path if data else "/data",
        idle_stop_minutes=spec.lifecycle.idle_stop_minutes or 0,
        jupyter=spec.workstation.jupyter,
    )


def _dense_pflops(pools: tuple[PoolPlan, ...], catalog: "Catalog") -> tuple[float | None, Decision]:
    total = 0.0
    told: list[str] = []
    sources: list[str] = []
    for pool in pools:
        if pool.gpu_model is None or not pool.gpus:
            continue
        model = catalog.gpu_model(pool.gpu_model)
        if model.dense_bf16_tflops is None:
            because = f"no source gives the dense BF16 rate of {pool.gpu_model}"
            return None, Decision(subject="totals.dense_bf16_pflops", choice="unknown", because=because)
        part = min(1.0, catalog.instance_type(pool.instance_type).gpu_count)
        total += pool.gpus * part * model.dense_bf16_tflops / 1000
        share = "" if part == 1 else f"{part:g} of "
        told.append(f"{pool.gpus:,} x {share}{pool.gpu_model} at {model.dense_bf16_tflops:g} dense BF16 TFLOPS")
        sources.append(model.source)
    return total, Decision(
        subject="totals.dense_bf16_pflops",
        choice=f"{total:,.1f} PFLOPS",
        because="; ".join(told) or "no GPU runs at plan time",
        source="; ".join(dict.fromkeys(sources)),
    )


def _not_built(spec: "ClusterSpec") -> tuple[NotBuilt, ...]:
    """Return the sections that were read and planned, and that no component of this version builds."""
    from gpukit.spec.model import Kind, UpdateStrategy

    told: list[NotBuilt] = []

    def add(section: str, says: str) -> None:
        told.append(NotBuilt(section=section, says=says))

    if spec.kind is Kind.EXISTING_CLUSTER:
        add("kind", "an existing cluster is read and planned; its labels and queues are not applied by this version")
    if spec.queues is not None:
        add("queues", "queues are read and shown; the scheduler that enforces them is not built by this version")
    if spec.health is not None:
        add("health", "checks and repair are read and shown; this version does not install them on the cluster")
    if spec.observability is not None:
        add("observability", "metrics and dashboards are read and shown; this version keeps logs and alarms only")
    if spec.kubernetes.operators:
        add("kubernetes.operators", "operators are read and shown; install them with Helm until they are built")
    if spec.phases:
        add("phases", "phases are read and priced; this version keeps every pool for the whole life of the stack")
    if spec.lifecycle.idle_pool_minutes is not None:
        add("lifecycle.idle_pool_minutes", "pools keep their size in this version; nothing shrinks them when they idle")
    for key in ("tokens", "checkpoint_minutes"):
        if spec.workload is not None and getattr(spec.workload, key) is not None:
            add(
                f"workload.{key}", "it sizes nothing in this version; storage follows checkpoint size, time and reading"
            )
    _volumes_not_built(spec, add)
    if spec.network.pod_cidr is not None:
        add("network.pod_cidr", "the secondary block is read and shown; pods share the node subnets in this version")
    for name, pool in spec.pools.items():
        if pool.sharing.mig or pool.sharing.time_slices:
            add(
                f"pools.{name}.sharing",
                "GPU sharing is read and shown; the device plugin is not set up by this version",
            )
        if pool.nodes.min != pool.nodes.max:
            add(f"pools.{name}.nodes", "the bounds are set on the node group; nothing scales it by the queue yet")
        if pool.updates.strategy not in (UpdateStrategy.ROLLING, UpdateStrategy.REPLACE_ONE_BY_ONE):
            add(f"pools.{name}.updates.strategy", "this version updates by rolling or one by one")
        if spec.kind is Kind.CLUSTER and pool.updates.drain_minutes != _EKS_DRAIN_MINUTES:
            add(f"pools.{name}.updates.drain_minutes", "EKS drains a node for 15 minutes and offers no other time")
        if spec.kind is Kind.CLUSTER and any(source.max_usd_per_hour is not None for source in pool.capacity):
            add(f"pools.{name}.capacity", "EKS node groups take no `max_usd_per_hour`; spot costs at most on-demand")
        if pool.updates.window is not None:
            add(f"pools.{name}.updates.window", "a maintenance window is shown and not enforced by this version")
    return tuple(told)


def _volumes_not_built(spec: "ClusterSpec", add: Callable[[str, str], None]) -> None:
    """Name the stores that no component makes or mounts."""
    from gpukit.spec.model import Kind, StorageKind

    own_volumes = 0
    for name, store in spec.storage.items():
        if store.cache not in (None, "none"):
            add(f"storage.{name}.cache", "the bucket is made; how its files are cached is up to your mount")
        if store.kind is StorageKind.LOCAL_NVME:
            add(f"storage.{name}", "local disks are set up by `pools.<name>.local_nvme`; this store makes nothing")
        elif store.kind is StorageKind.EBS and spec.kind is not Kind.WORKSTATION:
            add(f"storage.{name}", "a volume of its own is priced and not attached to cluster nodes by this version")
        elif store.kind is StorageKind.EBS and store.existing is not None:
            add(
                f"storage.{name}.existing",
                "a volume that exists is not attached by this version, and none is made for it",
            )
        elif store.kind is StorageKind.EBS:
            own_volumes += 1
            if own_volumes > 1:
                add(f"storage.{name}", "a workstation has one data volume; this further one is priced and not made")


def _read_boot_files(spec: "ClusterSpec", folder: Path | None) -> "tuple[ClusterSpec, list[Finding]]":
    """Return the spec with the text of boot-hook files in it, and a finding for each that is missing or has changed."""
    from gpukit.spec.model import changed

    findings: list[Finding] = []
    pools = dict(spec.pools)
    for name, pool in spec.pools.items():
        if not pool.boot.before_join and not pool.boot.after_join:
            continue
        boot = changed(
            pool.boot,
            before_join=[
                _read_hook(h, f"pools.{name}.boot.before_join[{i}]", folder, findings)
                for i, h in enumerate(pool.boot.before_join)
            ],
            after_join=[
                _read_hook(h, f"pools.{name}.boot.after_join[{i}]", folder, findings)
                for i, h in enumerate(pool.boot.after_join)
            ],
        )
        pools[name] = changed(pool, boot=boot)
    return (changed(spec, pools=pools) if pools != spec.pools else spec), findings


def _read_hook(hook: "BootHookSpec", path: str, folder: Path | None, findings: list[Finding]) -> "BootHookSpec":
    from gpukit.spec.model import changed

    def complain(where: str, problem: str, fix: str) -> None:
        why = "a node that boots without its hook joins half prepared"
        findings.append(Finding(code="GK1019", severity=Severity.ERROR, path=where, problem=problem, why=why, fix=fix))

    text = hook.run
    if (hook.run is None) == (hook.file is None):
        complain(path, "a hook needs either `run` or `file`", "write one of the two")
    elif hook.file is not None:
        file = (folder or Path()) / hook.file
        try:
            inside = folder is None or file.resolve().is_relative_to(folder.resolve())
            text = file.read_text(encoding="utf-8") if inside else None
            if not inside:
                complain(
                    f"{path}.file", f"`{hook.file}` lies outside the stack's folder", "copy it beside the stack file"
                )
        except (OSError, UnicodeDecodeError, ValueError):
            complain(f"{path}.file", f"cannot read `{hook.file}`", "name a text file beside the stack file")
    if hook.sha256 and text is not None and hashlib.sha256(text.encode()).hexdigest() != hook.sha256:
        complain(
            f"{path}.sha256",
            "the script is not the one that this SHA-256 was taken of",
            "check the script, then update it",
        )
    return changed(hook, run=text or None, file=None)


def is_under(path: str, parents: tuple[str, ...]) -> bool:
    """Tell whether a key path is one of `parents` or inside it."""
    return any(path == parent or path.startswith((f"{parent}.", f"{parent}[")) for parent in parents if parent)


def _nothing_to_plan() -> Finding:
    return Finding(
        code="GK1004",
        severity=Severity.ERROR,
        path="pools",
        problem="the stack has no pool",
        why="without a pool there is nothing to plan",
        fix="start from a preset (`preset: single-node`), or add a pool under `pools:`",
    )
