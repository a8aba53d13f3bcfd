"""
Components used alone: each says its part as a stack file would, and the core decides as always.

Ids that are born with other resources are unknown while planning, so they stand in the mapping as placeholders and are
put in their place afterwards; nothing that the core decides depends on an id.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pulumi

from gpukit.plan import ImagePlan, Plan
from gpukit_components.deciding import decide, region_of

if TYPE_CHECKING:
    from gpukit_components.cluster import ClusterBuild, GpuClusterArgs
    from gpukit_components.cooling_zone import CoolingZoneArgs, CoolingZoneBuild
    from gpukit_components.image import FrameworkImageArgs
    from gpukit_components.network import GpuNetworkArgs, NetworkBuild
    from gpukit_components.node_pool import GpuNodePoolArgs, NodePoolBuild
    from gpukit_components.spend_guard import SpendGuardArgs, SpendGuardBuild
    from gpukit_components.storage import StorageBuild, TrainingStorageArgs
    from gpukit_components.workstation import GpuWorkstationArgs, WorkstationBuild

_ANY_VPC = "vpc-00000000000000000"


def plan_network(name: str, args: "GpuNetworkArgs") -> "NetworkBuild":
    """Decide a network for some GPU nodes."""
    from gpukit_components.network import NetworkBuild

    region = region_of(args.get("region"))
    network = _given(
        cidr=args.get("cidr"),
        availability_zones=args.get("availability_zones"),
        pod_cidr=args.get("pod_cidr"),
        egress=args.get("egress"),
        nat_gateways=_count(args.get("nat_gateways")),
        flow_log_days=_count(args.get("flow_log_days")),
    )
    pools = {
        "nodes": {"instance_type": args["instance_type"], "nodes": _count(args["nodes"])},
        "system": {"role": "system", "nodes": 2},
    }
    plan = decide(
        {**_head(name, args.get("tags")), "network": network, "pools": pools}, region=region, own_section="network"
    )
    return NetworkBuild(plan=plan.network, region=region, tags=plan.tags, kms_key_arn=args.get("kms_key_arn"))


def plan_node_pool(name: str, args: "GpuNodePoolArgs") -> "NodePoolBuild":
    """Decide a pool in a cluster and a VPC that are there already."""
    from gpukit_components.node_pool import NodePoolBuild

    region = region_of(args.get("region"))
    capacity = _given(
        mode=args.get("capacity_mode"),
        reservations=[
            _given(**{**reservation, "nodes": _count(reservation["nodes"])})
            for reservation in args.get("reservations") or []
        ],
    )
    wanted = _given(
        instance_type=args["instance_type"],
        nodes=_node_count(args),
        capacity=capacity,
        zones=args.get("availability_zones"),
        efa=args.get("efa"),
        root_volume=_given(gib=_count(args.get("root_gib"))),
        labels=args.get("labels"),
        cooling_zone=args.get("cooling_zone"),
        image="pinned" if args.get("ami_id") else None,
    )
    mapping = {
        **_head(name, args.get("tags")),
        "network": _existing_network(args["subnet_ids"]),
        "pools": {"nodes": wanted},
        **({"images": {"pinned": {"ami_id": args.get("ami_id")}}} if args.get("ami_id") else {}),
    }
    zone = args.get("cooling_zone")
    if zone:
        mapping["cooling_zones"] = {zone: _given(method=args.get("cooling_method"))}
    plan = decide(mapping, region=region, own_section="pools.nodes")
    pool = plan.pools[0]
    image = plan.image(pool.image)
    return NodePoolBuild(
        pool=pool,
        image=image,
        cluster=_connection_to(args, image),
        subnet_ids=_by_plan_name(plan, args["subnet_ids"]),
        region=region,
        tags=plan.tags,
        lustre=bool(args.get("lustre")),
        vpc_id=args["vpc_id"],
        efa_security_group_id=args.get("efa_security_group_id"),
        security_group_ids=tuple(args.get("security_group_ids") or []),
        kms_key_arn=args.get("kms_key_arn"),
        ami_id=image.ami_id,
    )


def plan_cluster(name: str, args: "GpuClusterArgs") -> "ClusterBuild":
    """Decide a control plane with its system nodes, in a VPC that is there already."""
    from gpukit_components.cluster import ClusterBuild

    region = region_of(args.get("region"))
    system = _given(
        role="system",
        instance_type=args.get("system_instance_type"),
        nodes=_count(args.get("system_nodes")) or 2,
        zones=sorted(args["subnet_ids"]),
    )
    mapping = {
        **_head(name, args.get("tags")),
        "network": _existing_network(args["subnet_ids"]),
        "kubernetes": _given(
            version=args.get("version"), addons=args.get("addons"), log_days=_count(args.get("log_days"))
        ),
        "access": _given(
            administrators=args.get("administrators"),
            viewers=args.get("viewers"),
            public_endpoint_cidrs=args.get("public_endpoint_cidrs"),
        ),
        "pools": {"system": system},
    }
    plan = decide(mapping, region=region, own_section="kubernetes")
    assert plan.kubernetes is not None
    return ClusterBuild(
        cluster_name=name,
        plan=plan.kubernetes,
        region=region,
        tags=plan.tags,
        subnet_ids=_by_plan_name(plan, args["subnet_ids"]),
        control_plane_subnets=tuple(subnet.name for subnet in plan.network.subnets),
        pod_subnets={},
        system_pools=plan.helper_pools,
        images={image.name: image for image in plan.images},
        kms_key_arn=args.get("kms_key_arn"),
    )


def plan_workstation(name: str, args: "GpuWorkstationArgs") -> "WorkstationBuild":
    """Decide a single GPU instance, with a network of its own where none is given."""
    from gpukit_components.network import NetworkBuild
    from gpukit_components.workstation import WorkstationBuild

    region = region_of(args.get("region"))
    zone = args.get("availability_zone")
    own_network = args.get("vpc_id") is None
    if not own_network and (args.get("subnet_id") is None or zone is None):
        raise pulumi.InputPropertyError(
            "subnet_id", "a workstation in a VPC needs a private subnet of it and that subnet's `availability_zone`"
        )
    mapping = {
        **_head(name, args.get("tags")),
        "kind": "workstation",
        "network": {} if own_network or zone is None else _existing_network({zone: ""}),
        "pools": {
            "box": _given(
                instance_type=args["instance_type"],
                nodes=1,
                zones=[zone] if zone else None,
                image="software",
                root_volume=_given(gib=_count(args.get("root_gib"))),
            )
        },
        "images": {"software": _given(framework=args.get("framework"), ami_id=args.get("ami_id"))},
        "lifecycle": _given(idle_stop_minutes=_count(args.get("idle_stop_minutes")) or 60),
        "protect": args.get("protect", True),
    }
    if args.get("data_gib"):
        mapping["storage"] = {
            "data": {"kind": "ebs", "mount_path": "/data", "gib": _count(args.get("data_gib"))},
        }
    plan = decide(mapping, region=region, own_section="pools.box")
    image = plan.image(plan.pools[0].image)
    return WorkstationBuild(
        plan=plan,
        ami_id=_ami_id(image),
        vpc_id=args.get("vpc_id"),
        subnet_id=args.get("subnet_id"),
        network=NetworkBuild(plan=plan.network, region=region, tags=plan.tags) if own_network else None,
        kms_key_arn=args.get("kms_key_arn"),
    )


def plan_storage(name: str, args: "TrainingStorageArgs") -> "StorageBuild":
    """Decide stores; what is left out is sized for one node of GPUs, as no cluster is known here."""
    from gpukit_components.storage import StorageBuild

    region = region_of(args.get("region"))
    subnets = args.get("subnet_ids") or {}
    numbers = ("gib", "throughput_tier", "metadata_iops", "backup_days")
    stores: dict[str, Any] = {}
    for store, wish in args["stores"].items():
        words: dict[str, Any] = {
            key: _count(value) if key in numbers else value for key, value in wish.items() if value is not None
        }
        if words.get("kind") == "lustre" and "availability_zone" not in words and subnets:
            words["availability_zone"] = next(iter(subnets))
        stores[store] = words
    mapping = {
        **_head(name, args.get("tags")),
        "storage": stores,
        "pools": {"system": {"role": "system", "nodes": 1}},
        "protect": args.get("protect", True),
        **({"network": _existing_network(subnets)} if subnets else {}),
    }
    plan = decide(mapping, region=region, own_section="storage")
    return StorageBuild(
        stores=plan.storage,
        region=region,
        tags=plan.tags,
        protect=plan.protect,
        vpc_id=args.get("vpc_id"),
        subnet_by_zone=dict(subnets),
        efa_security_group_id=args.get("efa_security_group_id"),
        kms_key_arn=args.get("kms_key_arn"),
    )


def plan_image(name: str, args: "FrameworkImageArgs") -> ImagePlan:
    """Decide a pinned image for an instance type."""
    region = region_of(args.get("region"))
    wanted = _given(
        framework=args.get("framework"),
        version=args.get("version"),
        ami_id=args.get("ami_id"),
        release_version=args.get("release_version"),
        container=args.get("container"),
    )
    pool = {"instance_type": args.get("instance_type") or "g6.xlarge", "nodes": 1, "image": "software"}
    plan = decide(
        {**_head(name, None), "images": {"software": wanted}, "pools": {"nodes": pool}},
        region=region,
        own_section="images.software",
    )
    return plan.image("software")


def plan_cooling_zone(name: str, args: "CoolingZoneArgs") -> "CoolingZoneBuild":
    """Decide a cooling zone, with the heat of its nodes where they are stated."""
    from gpukit_components.cooling_zone import CoolingZoneBuild
    from gpukit_components.stack import cooling_labels

    region = region_of(args.get("region"))
    zone = _given(
        method=args["method"],
        racks=_count(args.get("racks")),
        envelope_kw=args.get("envelope_kw"),
        availability_zone=args.get("availability_zone"),
    )
    pool = {
        "instance_type": args.get("instance_type") or "g6.xlarge",
        "nodes": _count(args.get("nodes")) or 1,
        "cooling_zone": name,
    }
    plan = decide(
        {**_head(name, args.get("tags")), "cooling_zones": {name: zone}, "pools": {"nodes": pool}},
        region=region,
        own_section=f"cooling_zones.{name}",
    )
    return CoolingZoneBuild(
        zone=plan.cooling_zones[0],
        stack_name=args.get("stack_name") or name,
        tags=plan.tags,
        labels=cooling_labels(plan, plan.cooling_zones[0]),
    )


def plan_spend_guard(name: str, args: "SpendGuardArgs") -> "SpendGuardBuild":
    """Decide budgets."""
    from gpukit_components.spend_guard import SpendGuardBuild

    region = region_of(args.get("region"))
    shares = args.get("alert_pct")
    budget = _given(
        monthly_usd=args.get("monthly_usd"),
        hourly_usd=args.get("hourly_usd"),
        notify=args.get("notify"),
        alert_pct=[_count(share) for share in shares] if shares else None,
    )
    if "monthly_usd" not in budget and "hourly_usd" not in budget:
        raise pulumi.InputPropertyError("monthly_usd", "a guard needs `monthly_usd`, `hourly_usd` or both")
    mapping = {**_head(name, args.get("tags")), "budget": budget, "kind": "existing-cluster"}
    plan = decide(mapping, region=region, own_section="budget")
    return SpendGuardBuild(
        budget=plan.budget,
        stack_name=name,
        region=region,
        tags=plan.tags,
        cost_tag=args.get("cost_tag"),
        kms_key_arn=args.get("kms_key_arn"),
    )


def _head(name: str, tags: Mapping[str, str] | None) -> dict[str, Any]:
    return {"name": name, "environment": "alone", **({"tags": dict(tags)} if tags else {})}


def _given(**keys: Any) -> dict[str, Any]:
    """Return what was stated; a key that was left out is the core's to decide."""
    return {key: value for key, value in keys.items() if value is not None and value != {} and value != []}


def _count(value: Any) -> int | None:
    # whole numbers arrive as floats over the wire
    return int(value) if value is not None else None


def _node_count(args: "GpuNodePoolArgs") -> Any:
    low, high = _count(args.get("min_nodes")), _count(args.get("max_nodes"))
    if low is None and high is None:
        return _count(args.get("nodes")) or 1
    return {"min": low or 0, "max": high if high is not None else _count(args.get("nodes")) or low}


def _existing_network(subnet_ids: Mapping[str, Any]) -> dict[str, Any]:
    placeholders = {zone: f"subnet-{index:017x}" for index, zone in enumerate(sorted(subnet_ids))}
    return {"existing": {"vpc_id": _ANY_VPC, "subnets": placeholders}}


def _by_plan_name(plan: Plan, subnet_ids: Mapping[str, pulumi.Input[str]]) -> dict[str, pulumi.Input[str]]:
    """Return the real ids by the plan's subnet names."""
    return {
        subnet.name: subnet_ids[subnet.availability_zone]
        for subnet in plan.network.subnets
        if subnet.availability_zone in subnet_ids
    }


def _connection_to(args: "GpuNodePoolArgs", image: ImagePlan) -> Any:
    """Return what nodes must know of their cluster, looked up only as far as it is not given."""
    from gpukit_components.node_pool import ClusterConnection

    name = args["cluster_name"]
    group = args.get("cluster_security_group_id")
    if group is not None and image.source == "eks-release":
        return ClusterConnection(
            name=name, endpoint="", certificate_authority="", service_cidr="", security_group_id=group
        )
    import pulumi_aws as aws

    found = aws.eks.get_cluster_output(name=name)
    return ClusterConnection(
        name=name,
        endpoint=found.endpoint,
        certificate_authority=found.certificate_authorities[0].data,
        service_cidr=found.kubernetes_network_configs[0].service_ipv4_cidr,
        security_group_id=group if group is not None else found.vpc_config.cluster_security_group_id,
    )


def _ami_id(image: ImagePlan) -> pulumi.Input[str]:
    from gpukit_components.image import find_ami

    found = find_ami(image, None)
    if found is None:
        raise pulumi.InputPropertyError(
            "ami_id", "a workstation needs an AMI, and the catalogue has none that fits: set it"
        )
    return found
