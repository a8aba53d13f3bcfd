"""Decide each pool: type, EFA, zones, node groups, labels, taints, tags, root volume, updates."""

import math
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from gpukit.decide.capacity import GroupShare, explain_split, split_into_groups
from gpukit.decide.cost import node_price
from gpukit.decide.interfaces import lay_out_network_interfaces
from gpukit.decide.network import subnet_name
from gpukit.decide.zones import choose_helper_zones, choose_pool_zones, zone_names
from gpukit.plan import (
    BootHookPlan,
    BucketAccessPlan,
    CapacityPlan,
    Decision,
    ImagePlan,
    NetworkInterfacePlan,
    NodeGroupPlan,
    PoolPlan,
    RootVolumePlan,
    SharingPlan,
    TaintPlan,
    UpdatePlan,
)

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.catalog.hardware import HelperType, InstanceType
    from gpukit.spec.model import ClusterSpec, PoolSpec

GPU_TAINT: Final = TaintPlan(key="nvidia.com/gpu", value="present", effect="NoSchedule")
"""Keeps pods without GPUs off GPU nodes. Source: NVIDIA device plugin and EKS convention."""
DEFAULT_ROOT_GIB: Final = 100
"""Room for the system and a few container images; the image's own need comes on top where it is larger."""
_HELPER_DEFAULT: Final = "m7i.xlarge"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolContext:
    """What all pools of a stack share."""

    spec: "ClusterSpec"
    region: str
    catalog: "Catalog"
    today: date | None
    preferred_zones: tuple[str, ...]
    helper_zones: tuple[str, ...]
    """Zones of the control plane, where helper pools live; empty until the GPU pools have theirs."""
    tags: dict[str, str]
    existing_network: bool


def pool_instance_types(pool: "PoolSpec", catalog: "Catalog") -> tuple[str, ...]:
    """Return the types of a pool in order of wish; an UltraServer stands for its instance type."""
    if pool.ultraserver:
        return (catalog.ultraserver(pool.ultraserver).instance_type,)
    types = ([pool.instance_type] if pool.instance_type else []) + pool.instance_types
    return tuple(dict.fromkeys(types)) or (_HELPER_DEFAULT,)


def find_type(name: str, catalog: "Catalog") -> "InstanceType | HelperType":
    """Return the row of a GPU type or of a helper type."""
    return catalog.helper_type(name) if catalog.has_helper_type(name) else catalog.instance_type(name)


def choose_efa(name: str, pool: "PoolSpec", *, instance_type: str, catalog: "Catalog") -> tuple[bool, Decision]:
    """
    Return whether the pool's nodes talk by EFA, and why.

    It needs a type that has it and two nodes. Spot nodes come and go, so a pool of nothing else has it off unless the
    user asks for it; one spot source among others takes it from nobody.
    """
    subject = f"pools.{name}.efa"
    if catalog.has_helper_type(instance_type):
        return False, Decision(subject=subject, choice="off", because=f"{instance_type} is a helper without EFA")
    row = catalog.instance_type(instance_type)
    if pool.efa is not None:
        on = pool.efa and row.supports_efa
        return on, Decision(
            subject=subject, choice="on" if on else "off", because="the stack file says so", source=row.source
        )
    if not row.supports_efa:
        return False, Decision(subject=subject, choice="off", because=f"{instance_type} has no EFA", source=row.source)
    if pool.nodes.max < 2:
        because = "one node has nobody to talk to, and every EFA interface is one more to attach"
        return False, Decision(subject=subject, choice="off", because=because, source=row.source)
    modes = {str(source.mode) for source in pool.capacity}
    rows = [item for item in catalog.capacity_modes() if item.mode in modes]
    if all(item.market_type == "spot" for item in rows):
        because = "a gang job over spot nodes ends with the first node that is taken back"
        return False, Decision(subject=subject, choice="off", because=because, source=rows[0].source)
    because = (
        f"{pool.nodes.max} nodes of {instance_type} form one fabric with up to {row.max_efa_interfaces} interfaces each"
    )
    return True, Decision(subject=subject, choice="on", because=because, source=row.source)


def plan_pool(
    name: str, pool: "PoolSpec", *, image: ImagePlan, efa: bool, context: PoolContext
) -> tuple[PoolPlan, list[Decision]]:
    """Return the pool with all its node groups, and why."""
    catalog, region = context.catalog, context.region
    types = pool_instance_types(pool, catalog)
    row = find_type(types[0], catalog)
    helper = catalog.has_helper_type(types[0])
    # A part of a GPU is one device: the driver and Kubernetes count it as one.
    gpus = 0 if helper else math.ceil(getattr(row, "gpu_count", 0))
    rack = catalog.ultraserver(pool.ultraserver).instances if pool.ultraserver else None
    interfaces = (
        lay_out_network_interfaces(types[0], efa=efa, catalog=catalog)
        if not helper
        else (NetworkInterfacePlan(network_card=0, device_index=0, interface_type="interface", takes_address=True),)
    )
    shares = split_into_groups(pool, catalog=catalog, efa=efa, rack_instances=rack, today=context.today)
    decisions = explain_split(name, shares, rack)
    placed = _placement_group(name, pool, shares, context, decisions)
    zone_choice = (
        choose_helper_zones(name, pool, region=region, control_zones=context.helper_zones, catalog=catalog)
        if str(pool.role) != "gpu"
        else choose_pool_zones(
            name,
            pool,
            instance_type=types[0],
            fabric=efa or placed is not None,
            several=shares[0].row.market_type == "spot",
            region=region,
            preferred=context.preferred_zones,
            catalog=catalog,
        )
    )
    decisions.append(zone_choice.decision)
    root = _root_volume(name, pool, image, decisions)
    groups = tuple(
        _node_group(
            name,
            pool,
            index=index,
            shares=shares,
            types=types,
            zones=zone_choice.zones,
            interfaces=interfaces,
            placement_group=placed,
            image=image,
            root=root,
            gpus_per_node=gpus,
            context=context,
        )
        for index in range(len(shares))
    )
    if not helper:
        decisions.append(_explain_interfaces(name, types[0], interfaces, catalog))
    price = node_price(types[0], shares[0].row.market_type or None, region, catalog)
    power = catalog.node_power_kw(types[0]) if not helper else None
    nodes = sum(group.instances for group in groups)
    return (
        PoolPlan(
            name=name,
            role=str(pool.role),
            instance_type=types[0],
            architecture=row.architecture,
            gpu_model=None if helper else getattr(row, "gpu_model", None),
            gpus_per_node=gpus,
            nodes=nodes,
            min_nodes=sum(group.min_instances for group in groups),
            max_nodes=max(nodes, pool.nodes.max),
            gpus=sum(group.gpus for group in groups),
            vcpu_per_node=row.vcpu,
            memory_gib_per_node=row.memory_gib or 0.0,
            efa=efa,
            efa_interfaces_per_node=sum(interface.is_efa for interface in interfaces),
            addresses_per_node=sum(interface.takes_address for interface in interfaces),
            cooling_zone=pool.cooling_zone,
            image=image.name,
            kw_per_node=power.value if power is not None else None,
            usd_per_node_hour=price.value if price is not None else None,
            node_groups=groups,
            sharing=SharingPlan(mig_profiles=tuple(pool.sharing.mig), time_slices=pool.sharing.time_slices),
            boot=_boot_hooks(pool),
            node_settings=_node_settings(pool),
            local_nvme_role=str(pool.local_nvme.role) if pool.local_nvme else "none",
            local_nvme_path=pool.local_nvme.path if pool.local_nvme else None,
            pre_pull=tuple(pool.pre_pull),
            buckets=BucketAccessPlan(
                read=tuple(sorted(pool.permissions.buckets.read)), write=tuple(sorted(pool.permissions.buckets.write))
            ),
            policies=tuple(sorted(pool.permissions.policies)),
            pod_identities=tuple(sorted(pool.permissions.pod_identities)),
        ),
        decisions,
    )


def _placement_group(
    name: str, pool: "PoolSpec", shares: tuple[GroupShare, ...], context: PoolContext, decisions: list[Decision]
) -> str | None:
    """Return the name of the cluster placement group that the pool makes, or None."""
    policies = {share.row.placement_group for share in shares}
    subject = f"pools.{name}.placement_group"
    stated = pool.placement_group
    row = shares[0].row
    if "own" in policies and stated in (None, "auto"):
        chosen = f"{context.spec.name}-{context.spec.environment}-{name}"
        decisions.append(Decision(subject=subject, choice=chosen, because=row.because, source=row.source))
        return chosen
    if stated not in (None, "auto", "none") and "never" not in policies:
        decisions.append(
            Decision(subject=subject, choice=str(stated), because="the stack file names a group that exists")
        )
        return None
    because = "the stack file says so" if stated == "none" else row.because
    decisions.append(Decision(subject=subject, choice="none", because=because, source=row.source))
    return None


def _node_group(
    name: str,
    pool: "PoolSpec",
    *,
    index: int,
    shares: tuple[GroupShare, ...],
    types: tuple[str, ...],
    zones: tuple[str, ...],
    interfaces: tuple[NetworkInterfacePlan, ...],
    placement_group: str | None,
    image: ImagePlan,
    root: RootVolumePlan,
    gpus_per_node: int,
    context: PoolContext,
) -> NodeGroupPlan:
    share = shares[index]
    row, reservation = share.row, share.reservation
    # numbered from the first on: a pool that grows to a second group keeps the name, and the nodes, of its first
    numbered = len(shares) > 1 or (str(pool.role) == "gpu" and str(context.spec.kind) != "workstation")
    group_name = f"{name}-{index + 1}" if numbered else name
    own = reservation.availability_zone if reservation else None
    group_zones = zone_names([own], context.region, context.catalog) if own else zones
    role = "gpu" if str(pool.role) == "gpu" else "system"
    prefix = "existing" if context.existing_network else role
    owned = row.placement_group == "own" and placement_group is not None
    stated = pool.placement_group if pool.placement_group not in (None, "auto", "none") else None
    group = {
        "own": placement_group if owned else stated,
        "none": stated,
        "reservation": reservation.placement_group if reservation else None,
        "never": None,
    }[row.placement_group]
    rack = f"{name}-rack-{index + 1}" if pool.ultraserver else None
    return NodeGroupPlan(
        name=group_name,
        pool=name,
        instance_type=types[0],
        instance_types=types if row.instance_types == "several" else types[:1],
        instances=share.instances,
        min_instances=share.min_instances,
        max_instances=share.max_instances,
        availability_zones=group_zones,
        availability_zone=group_zones[0] if len(group_zones) == 1 else "",
        capacity=CapacityPlan(
            mode=row.mode,
            reservation_id=reservation.id if reservation else None,
            reservation_group_arn=share.source.reservation_group_arn,
            market_type=row.market_type or None,
            eks_capacity_type=row.eks_capacity_type,
            quota=_quota_code(row.quota, types[0], context.catalog),
            starts=reservation.starts.isoformat() if reservation and reservation.starts else None,
            ends=reservation.ends.isoformat() if reservation and reservation.ends else None,
            max_usd_per_hour=share.source.max_usd_per_hour,
        ),
        placement_group=group,
        owns_placement_group=owned,
        network_interfaces=interfaces,
        efa_interfaces=sum(interface.is_efa for interface in interfaces),
        subnets=tuple(subnet_name(prefix, zone) for zone in group_zones),
        subnet=subnet_name(prefix, group_zones[0]),
        labels=_labels(name, pool, row.mode, rack, types[0], context),
        taints=_taints(pool),
        tags=context.tags
        | {"Name": f"{context.spec.name}-{group_name}", "gpukit:pool": name}
        | ({"gpukit:cooling-zone": pool.cooling_zone} if pool.cooling_zone else {}),
        image=image.name,
        root_gib=root.gib,
        root_volume=root,
        update=_update(pool, share),
        gpus=share.instances * gpus_per_node,
        rack=rack,
        opens=share.opens,
    )


def _quota_code(quota: str, instance_type: str, catalog: "Catalog") -> str | None:
    if quota == "none":
        return None
    row = find_type(instance_type, catalog)
    return getattr(row, "quota_code_spot" if quota == "spot" else "quota_code_on_demand", "") or None


def _labels(
    name: str, pool: "PoolSpec", mode: str, rack: str | None, instance_type: str, context: PoolContext
) -> dict[str, str]:
    labels = {"gpukit/pool": name, "gpukit/role": str(pool.role), "gpukit/capacity": mode}
    if context.catalog.has_instance_type(instance_type):
        labels["gpukit/gpu-model"] = context.catalog.instance_type(instance_type).gpu_model
    zone = context.spec.cooling_zones.get(pool.cooling_zone or "")
    if pool.cooling_zone and zone is not None:
        labels |= {"gpukit/cooling-zone": pool.cooling_zone, "gpukit/cooling-method": str(zone.method)}
    if rack:
        labels["gpukit/rack"] = rack
    return dict(sorted((labels | pool.labels).items()))


def _taints(pool: "PoolSpec") -> tuple[TaintPlan, ...]:
    if pool.taints is None:
        return (GPU_TAINT,) if str(pool.role) == "gpu" else ()
    return tuple(TaintPlan(key=item.key, value=item.value, effect=str(item.effect)) for item in pool.taints)


def _update(pool: "PoolSpec", share: GroupShare) -> UpdatePlan:
    updates, row = pool.updates, share.row
    one_by_one = str(updates.strategy) == "replace-one-by-one"
    return UpdatePlan(
        strategy=str(updates.strategy),
        max_unavailable=1 if one_by_one or updates.max_unavailable_pct is None else None,
        max_unavailable_pct=None if one_by_one else updates.max_unavailable_pct,
        surge=row.update_surge,
        drain_minutes=updates.drain_minutes,
        window=updates.window,
    )


def _root_volume(name: str, pool: "PoolSpec", image: ImagePlan, decisions: list[Decision]) -> RootVolumePlan:
    stated = pool.root_volume.gib
    gib = stated or max(DEFAULT_ROOT_GIB, image.gib)
    because = (
        "the stack file says so"
        if stated
        else f"image {image.name} needs {image.gib} GiB; {DEFAULT_ROOT_GIB} is the least"
    )
    decisions.append(
        Decision(
            subject=f"pools.{name}.root_volume", choice=f"{gib} GiB {pool.root_volume.type}, encrypted", because=because
        )
    )
    return RootVolumePlan(
        gib=gib,
        volume_type=pool.root_volume.type,
        iops=pool.root_volume.iops,
        throughput_mb_s=pool.root_volume.throughput_mb_s,
    )


def _boot_hooks(pool: "PoolSpec") -> tuple[BootHookPlan, ...]:
    import hashlib

    return tuple(
        BootHookPlan(
            name=hook.name,
            when=when,
            content=hook.run or "",
            sha256=hashlib.sha256((hook.run or "").encode()).hexdigest(),
        )
        for when, hooks in (("before-join", pool.boot.before_join), ("after-join", pool.boot.after_join))
        for hook in hooks
    )


def _node_settings(pool: "PoolSpec") -> dict[str, str]:
    node = pool.node
    settings: dict[str, object] = {
        "threads_per_core": node.threads_per_core,
        "limits.memlock": node.locked_memory,
        "shared_memory_gib": node.shared_memory_gib,
        "hugepages_2mi": node.hugepages_2mi,
        "kubelet.cpuManagerPolicy": node.kubelet.cpu_manager_policy,
        "kubelet.topologyManagerPolicy": node.kubelet.topology_manager_policy,
        "kubelet.maxPods": node.kubelet.max_pods,
    }
    settings |= {f"sysctl.{key}": value for key, value in node.sysctls.items()}
    return {key: str(value) for key, value in sorted(settings.items()) if value is not None}


def _explain_interfaces(
    name: str, instance_type: str, interfaces: tuple[NetworkInterfacePlan, ...], catalog: "Catalog"
) -> Decision:
    efa = sum(interface.is_efa for interface in interfaces)
    free = sum(not interface.takes_address for interface in interfaces)
    cards = catalog.network_cards(instance_type)
    return Decision(
        subject=f"pools.{name}.network_interfaces",
        choice=f"{len(interfaces)} a node, {efa} of them EFA, {free} without an address",
        because=f"{instance_type} has {len(cards)} network cards; the primary is ENA, efa-only takes no address"
        if efa
        else "without EFA the primary interface is enough",
        source=cards[0].source if cards else "",
    )
