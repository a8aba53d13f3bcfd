"""
`deploy()`: one Pulumi stack is one environment of gpukit.

Reads `gpukit:preset`, `gpukit:cluster` and `aws:region`, lets the core decide, stops before anything is created if the
core finds errors, and builds the plan from the components. Nothing here chooses: what exists, and how large, is in the
plan.
"""

from collections.abc import Mapping
from typing import Any

import pulumi

from gpukit.plan import CoolingZonePlan, Plan
from gpukit_components.cluster import ClusterBuild, GpuCluster
from gpukit_components.cooling_zone import CoolingZone, CoolingZoneBuild
from gpukit_components.deciding import decide
from gpukit_components.encryption import DATA_SERVICES, make_encryption_key
from gpukit_components.image import FrameworkImage
from gpukit_components.image_build import wish_of
from gpukit_components.network import GpuNetwork, NetworkBuild
from gpukit_components.node_pool import GpuNodePool, NodePoolBuild
from gpukit_components.security_groups import make_closed_security_group
from gpukit_components.spend_guard import PUBLISHERS, SpendGuard, SpendGuardBuild
from gpukit_components.stack_name import stack_name
from gpukit_components.storage import StorageBuild, TrainingStorage
from gpukit_components.workstation import GpuWorkstation, WorkstationBuild

COOLING_LABEL_PREFIX = "gpukit/cooling-"
"""Node labels that name a node's cooling zone; the plan writes them, the component shows them."""


def deploy() -> Plan:
    """Plan the stack that the Pulumi config describes, build it, and export what people need."""
    config = pulumi.Config("gpukit")
    plan = decide(
        config.get_object("cluster") or {},
        preset=config.get("preset"),
        region=pulumi.Config("aws").get("region"),
        file=_stack_file(),
    )
    build(plan)
    return plan


def build(plan: Plan) -> None:
    """Create everything that the plan says, and export what people need."""
    if plan.kind == "existing-cluster":
        _export_totals(plan)
        return
    key_arn = make_encryption_key(
        plan.name,
        purpose="secrets, logs, volumes and messages",
        region=plan.region,
        tags=plan.tags,
        opts=pulumi.ResourceOptions(),
        via_services=(*DATA_SERVICES, "sns"),
        publishers=PUBLISHERS,
    )
    network = GpuNetwork.from_plan(
        plan.name, NetworkBuild(plan=plan.network, region=plan.region, tags=plan.tags, kms_key_arn=key_arn)
    )
    images = _build_images(plan, network)
    storage = _build_storage(plan, network)
    _build_cooling_zones(plan)
    if plan.workstation is not None:
        _build_workstation(plan, network, images, storage)
    if plan.kubernetes is not None:
        _build_cluster(plan, network, images, storage, key_arn)
    if plan.budget.monthly_usd is not None or plan.budget.hourly_usd is not None:
        guard = SpendGuard.from_plan(
            plan.name,
            SpendGuardBuild(
                budget=plan.budget, stack_name=stack_name(plan), region=plan.region, tags=plan.tags, kms_key_arn=key_arn
            ),
        )
        pulumi.export("spend_topic_arn", guard.topic_arn)
    _export_totals(plan)


def cooling_labels(plan: Plan, zone: CoolingZonePlan) -> dict[str, str]:
    """Return the labels that the plan gives to the nodes of a cooling zone."""
    labels: dict[str, str] = {}
    for pool in plan.pools:
        if pool.name in zone.pools:
            for group in pool.node_groups:
                labels |= {key: value for key, value in group.labels.items() if key.startswith(COOLING_LABEL_PREFIX)}
    return labels


def _stack_file() -> str | None:
    """Return the path of this stack's file, so that findings can name the line; None where it cannot be found."""
    from pathlib import Path

    root = pulumi.get_root_directory() if hasattr(pulumi, "get_root_directory") else "."
    name = f"Pulumi.{pulumi.get_stack()}.yaml"
    for folder in (Path(root), Path(root) / "stacks", Path.cwd()):
        if (folder / name).is_file():
            return str(folder / name)
    return None


def _build_images(plan: Plan, network: GpuNetwork) -> dict[str, FrameworkImage]:
    groups: list[pulumi.Input[str]] = []
    if any(image.build is not None for image in plan.images):
        builder = make_closed_security_group(
            f"{plan.name}-image-builder",
            description="Builders of images: out, and nobody in",
            vpc_id=network.vpc_id,
            tags=plan.tags,
            opts=pulumi.ResourceOptions(parent=network),
        )
        groups.append(builder.id)
    images: dict[str, FrameworkImage] = {}
    for image in plan.images:
        build = None
        if image.build is not None:
            build = wish_of(image.build, tags=plan.tags, subnet_ids=network.subnets, security_group_ids=groups)
        images[image.name] = FrameworkImage.from_plan(image.name, image, build=build, region=plan.region)
    built = {name: images[name] for name in images if images[name].pipeline_arn is not None}
    if built:
        pulumi.export("image_pipelines", {name: image.pipeline_arn for name, image in built.items()})
        repositories = {name: image.repository_url for name, image in built.items() if image.repository_url is not None}
        pulumi.export("image_repositories", repositories)
    return images


def _build_storage(plan: Plan, network: GpuNetwork) -> TrainingStorage | None:
    stores = tuple(store for store in plan.storage if store.kind in ("lustre", "efs", "s3"))
    if not stores:
        return None
    storage = TrainingStorage.from_plan(
        plan.name,
        StorageBuild(
            stores=stores,
            region=plan.region,
            tags=plan.tags,
            protect=any(store.protect for store in stores),
            vpc_id=network.vpc_id,
            subnet_by_zone=_subnet_by_zone(plan, network),
            efa_security_group_id=network.efa_security_group_id,
        ),
    )
    pulumi.export("file_systems", storage.file_system_ids)
    pulumi.export("mount_names", storage.mount_names)
    pulumi.export("mount_commands", storage.mount_commands)
    pulumi.export("buckets", storage.bucket_names)
    return storage


def _subnet_by_zone(plan: Plan, network: GpuNetwork) -> dict[str, pulumi.Input[str]]:
    """Return one private subnet a zone for file systems: where the GPU nodes are, else where the system nodes are."""
    found: dict[str, pulumi.Input[str]] = {}
    for role in ("gpu", "existing", "system"):
        for subnet in plan.network.subnets:
            if subnet.role == role:
                found.setdefault(subnet.availability_zone, network.subnets[subnet.name])
    return found


def _build_cooling_zones(plan: Plan) -> None:
    zones: dict[str, CoolingZone] = {}
    for zone in plan.cooling_zones:
        zones[zone.name] = CoolingZone.from_plan(
            zone.name,
            CoolingZoneBuild(zone=zone, stack_name=stack_name(plan), tags=plan.tags, labels=cooling_labels(plan, zone)),
        )
    if zones:
        pulumi.export(
            "cooling_zones",
            {
                zone.name: {
                    "method": zone.method,
                    "it_kw": _rounded(zone.it_kw),
                    "envelope_kw": zone.envelope_kw,
                    "kw_per_rack": _rounded(zone.kw_per_rack),
                    "used_pct": _rounded(zone.used_pct),
                    "parameter": zones[zone.name].parameter_name,
                }
                for zone in plan.cooling_zones
            },
        )


def _build_workstation(
    plan: Plan,
    network: GpuNetwork,
    images: Mapping[str, FrameworkImage],
    storage: TrainingStorage | None,
) -> None:
    group = plan.pools[0].node_groups[0]
    image = images[group.image]
    if image.ami_id is None:
        raise ValueError(f"image {group.image}: a workstation needs an AMI, not an EKS release")
    workstation = GpuWorkstation.from_plan(
        plan.name,
        WorkstationBuild(
            plan=plan,
            ami_id=image.ami_id,
            vpc_id=network.vpc_id,
            subnet_id=network.subnets[group.subnet],
            security_group_ids=tuple(storage.client_groups) if storage else (),
            bucket_arns=_bucket_arns(storage),
            after=tuple(network.ways_out),
        ),
    )
    pulumi.export("instance_id", workstation.instance_id)
    pulumi.export("connect", workstation.session_command)
    pulumi.export("start", workstation.start_command)
    if workstation.jupyter_command is not None:
        pulumi.export("jupyter", workstation.jupyter_command)


def _build_cluster(
    plan: Plan,
    network: GpuNetwork,
    images: Mapping[str, FrameworkImage],
    storage: TrainingStorage | None,
    key_arn: pulumi.Input[str],
) -> None:
    assert plan.kubernetes is not None
    image_plans = {image.name: image for image in plan.images}
    node_groups_of_network: list[pulumi.Input[str]] = list(network.further_groups)
    client_groups = storage.client_groups if storage else []
    system_pools = tuple(pool for pool in plan.helper_pools if pool.role == "system")
    cluster = GpuCluster.from_plan(
        plan.name,
        ClusterBuild(
            cluster_name=stack_name(plan),
            plan=plan.kubernetes,
            region=plan.region,
            tags=plan.tags,
            subnet_ids=network.subnets,
            control_plane_subnets=_control_plane_subnets(plan),
            pod_subnets={s.availability_zone: s.name for s in plan.network.subnets if s.role == "pods"},
            system_pools=system_pools,
            images=image_plans,
            node_security_group_ids=(*node_groups_of_network, *client_groups),
            bucket_arns=tuple(_bucket_arns(storage).values()),
            kms_key_arn=key_arn,
            after=tuple(network.ways_out),
        ),
    )
    others = [pool for pool in plan.all_pools if pool not in system_pools]
    pools = {
        pool.name: GpuNodePool.from_plan(
            pool.name,
            NodePoolBuild(
                pool=pool,
                image=image_plans[pool.image],
                cluster=cluster.connection,
                subnet_ids=network.subnets,
                region=plan.region,
                tags=plan.tags,
                boot_log=cluster.boot_log,
                lustre=plan.network.lustre,
                efa_security_group_id=network.efa_security_group_id if pool.efa else None,
                security_group_ids=(*node_groups_of_network, *client_groups),
                kms_key_arn=key_arn,
                ami_id=images[pool.image].ami_id,
                bucket_arns=_bucket_arns(storage),
                after=(*network.ways_out, *cluster.before_nodes),
            ),
        )
        for pool in others
    }
    pulumi.export("cluster_name", cluster.cluster_name)
    pulumi.export("kubeconfig", cluster.kubeconfig_command)
    pulumi.export("connect", cluster.kubeconfig_command)
    pulumi.export("node_groups", {name: pool.node_group_names for name, pool in pools.items()})


def _control_plane_subnets(plan: Plan) -> tuple[str, ...]:
    """Return where EKS puts its own interfaces: the system subnets, else the existing ones."""
    system = tuple(subnet.name for subnet in plan.network.subnets if subnet.role == "system")
    return system or tuple(subnet.name for subnet in plan.network.subnets if subnet.role == "existing")


def _bucket_arns(storage: TrainingStorage | None) -> dict[str, pulumi.Input[str]]:
    return dict(storage.bucket_arns) if storage else {}


def _rounded(value: float | None) -> float | None:
    """Return a number as people read it; the plan's own digits are noise in an output."""
    return None if value is None else round(value, 2)


def _export_totals(plan: Plan) -> None:
    totals = plan.totals
    pulumi.export(
        "totals",
        {
            "gpus": totals.gpus,
            "nodes": totals.nodes,
            "node_groups": totals.node_groups,
            "efa_interfaces": totals.efa_interfaces,
            "hourly_usd": _rounded(totals.hourly_usd),
            "monthly_usd": _rounded(totals.monthly_usd),
            "it_kw": _rounded(totals.it_kw),
            "kgco2e_per_month": _rounded(totals.kgco2e_per_month),
            "unpriced": totals.unpriced,
        },
    )
    if plan.not_built:
        says: dict[str, Any] = {item.section: item.says for item in plan.not_built}
        pulumi.export("not_built", says)
