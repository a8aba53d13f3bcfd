"""
Count what a plan uses of everything that is limited: addresses, interfaces, nodes, vCPUs, volumes, file systems.

Every number carries its arithmetic in words, because a per cent alone convinces nobody.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gpukit.plan import ImagePlan, KubernetesPlan, NetworkPlan, NodeGroupPlan, PoolPlan, StoragePlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog

STANDARD_VCPU_QUOTA: Final = "L-1216C47A"
"""Running On-Demand Standard instances: what types without GPUs count against. Source: limits.csv, vcpu-od-std."""
STANDARD_SPOT_VCPU_QUOTA: Final = "L-34B43A08"
CONTROL_PLANE_INTERFACES: Final = 4
"""EKS places 2 to 4 interfaces into the VPC. Source: EKS Best Practices Guide, networking, 2026-05."""
NAU_OF_GATEWAY: Final = 6
"""
NAU units of a NAT gateway, of an interface endpoint per zone and of an EFS mount target.

Source: VPC User Guide, "Network Address Usage", 2026.
"""
GATEWAY_ENDPOINTS: Final = frozenset({"s3", "dynamodb"})
"""Services with endpoints in the route table, which take no interface. Source: VPC User Guide, gateway endpoints."""
LUSTRE_EFA_INTERFACES: Final = 8
"""EFA interfaces that a client uses for one Lustre file system at most. Source: limits.csv, fsx-efa-conn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What the plan uses of one limit; `limit` overrides the table's value where the plan itself sets it."""

    limit_id: str
    used: float | None
    because: str
    name: str = ""
    """Tells two lines of one limit apart (a subnet's, a node group's name)."""
    what: str = ""
    unit: str = ""
    scope: str = ""
    limit: float | None = None
    quota_code: str | None = None
    not_counted: bool = False
    exclusive: bool = False
    """Nothing but this plan takes from it, so using all of it is no warning."""
    how_to_raise: str = ""
    source: str = ""

    @property
    def id(self) -> str:
        """The line's id: the limit's, with the name where there are several."""
        return f"{self.limit_id}/{self.name}" if self.name else self.limit_id


def demand_of_everything(
    *,
    pools: Sequence[PoolPlan],
    helper_pools: Sequence[PoolPlan],
    network: NetworkPlan,
    storage: Sequence[StoragePlan],
    kubernetes: KubernetesPlan | None,
    images: Sequence[ImagePlan],
    catalog: "Catalog",
) -> list[Demand]:
    """Return the demand on every limit that the plan touches."""
    all_pools = (*pools, *helper_pools)
    groups = [(pool, group) for pool in all_pools for group in pool.node_groups]
    if not groups and not storage:
        return []
    return [
        *_network(all_pools, network, storage, kubernetes),
        *_subnets(network),
        *_security_groups(network),
        *_vcpus(groups, catalog),
        *_capacity_blocks(groups, catalog),
        *_placement(groups),
        *(_eks(groups, kubernetes) if kubernetes is not None else ()),
        *_launch(groups, all_pools),
        *_volumes(groups, storage, catalog),
        *_file_systems(storage, pools, network),
        *_identities(all_pools, kubernetes),
    ]


def largest(pool: PoolPlan, group: NodeGroupPlan) -> int:
    """Return the most instances a node group can have; EKS demands a maximum of 1 even of a group that stays empty."""
    return min(group.max_instances, pool.max_nodes)


def _network(
    all_pools: Sequence[PoolPlan],
    network: NetworkPlan,
    storage: Sequence[StoragePlan],
    kubernetes: KubernetesPlan | None,
) -> Iterator[Demand]:
    parts: list[str] = []
    interfaces = addresses = nodes = 0
    for pool in all_pools:
        for group in pool.node_groups:
            count = largest(pool, group)
            nodes += count
            interfaces += count * len(group.network_interfaces)
            addresses += count * sum(1 for item in group.network_interfaces if item.takes_address)
            if count:
                parts.append(f"{count} x {len(group.network_interfaces)} of {group.name}")
    zones = max(1, len(network.availability_zones))
    endpoint_interfaces = zones * sum(1 for name in network.endpoints if name not in GATEWAY_ENDPOINTS)
    stores = _mount_targets(storage, zones) + sum(
        1 for store in storage if store.kind == "lustre" and store.existing_id is None
    )
    others = {
        "warm interfaces of the pod network": nodes if kubernetes is not None else 0,
        "of the control plane": CONTROL_PLANE_INTERFACES if kubernetes is not None else 0,
        "of endpoints": endpoint_interfaces,
        "of NAT gateways": network.nat_gateways,
        "of file systems": stores,
    }
    shown = parts[:4] + ([f"{len(parts) - 4} more node groups"] if len(parts) > 4 else [])
    shown += [f"{count} {what}" for what, count in others.items() if count]
    yield Demand(
        limit_id="eni-per-region", used=float(interfaces + sum(others.values())), because=" + ".join(shown) or "nothing"
    )
    gateways = NAU_OF_GATEWAY * (endpoint_interfaces + network.nat_gateways + _mount_targets(storage, zones))
    needed = sum(subnet.needed_addresses for subnet in network.subnets)
    yield Demand(
        limit_id="nau",
        used=float(max(needed, addresses) + interfaces - nodes + gateways),
        because=f"{max(needed, addresses):,} addresses + {interfaces - nodes:,} further interfaces"
        f" + {gateways} for gateways, endpoints and mount targets",
    )
    yield Demand(
        limit_id="eip",
        used=float(network.nat_gateways if network.existing_vpc_id is None else 0),
        because=f"{network.nat_gateways} NAT gateway(s); nodes have no public address",
    )
    if network.existing_vpc_id is None:
        yield Demand(limit_id="vpcs-per-region", used=1.0, because="the stack makes one VPC")
        yield Demand(
            limit_id="cidr-per-vpc",
            used=2.0 if network.pod_cidr else 1.0,
            because="the VPC's block" + (" and one for pods" if network.pod_cidr else ""),
        )
        yield Demand(
            limit_id="natgw-az",
            used=float(-(-network.nat_gateways // zones)),
            because=f"{network.nat_gateways} NAT gateway(s) over {zones} zone(s)",
        )
        yield Demand(
            limit_id="routes",
            used=2.0 + sum(1 for name in network.endpoints if name in GATEWAY_ENDPOINTS),
            because="the local route, the way out, and one for each gateway endpoint",
        )
        yield Demand(
            limit_id="subnets-per-vpc",
            used=float(len(network.subnets)),
            because="one a zone and role, never one a node",
        )


def _mount_targets(storage: Sequence[StoragePlan], zones: int) -> int:
    return zones * sum(1 for store in storage if store.kind == "efs" and store.existing_id is None)


def _subnets(network: NetworkPlan) -> Iterator[Demand]:
    for subnet in network.subnets:
        yield Demand(
            limit_id="subnet-addresses",
            name=subnet.name,
            what=f"addresses in the subnet {subnet.name}",
            used=float(subnet.needed_addresses),
            limit=float(subnet.usable_addresses) if subnet.usable_addresses is not None else None,
            unit="addresses",
            scope=f"subnet {subnet.name}",
            # the plan sizes its own subnets with room; a full one is a warning like any other
            because=f"{subnet.needed_addresses:,} needed in {subnet.cidr or subnet.existing_id};"
            " AWS keeps 5 of each subnet",
            how_to_raise="a subnet cannot grow: make `network.cidr` larger"
            if network.existing_vpc_id is None
            else "use a larger subnet of the VPC",
            source="memory",
        )


def _security_groups(network: NetworkPlan) -> Iterator[Demand]:
    lustre = 2 if network.lustre else 0
    itself = 1 if network.efa else 0
    yield Demand(
        limit_id="sg-rules",
        used=float(2 + itself + lustre + len(network.ports)),
        because=f"2 of the cluster + {itself} to itself for EFA + {lustre} for Lustre"
        f" + {len(network.ports)} of your own",
    )
    used = 1 + itself + len(network.extra_security_groups)
    yield Demand(
        limit_id="sg-per-eni",
        used=float(used),
        because=f"1 for nodes + {itself} for EFA + {len(network.extra_security_groups)} of your own",
    )
    yield Demand(
        limit_id="sg-per-region",
        used=float(2 + itself + (1 if network.lustre else 0)),
        because="one for the control plane, one for nodes, one each for EFA, Lustre and endpoints where used",
    )


def _vcpus(groups: list[tuple[PoolPlan, NodeGroupPlan]], catalog: "Catalog") -> Iterator[Demand]:
    """One line a quota code; a code that only reserved and Capacity Block nodes touch is shown as not counted."""
    counted: dict[str, float] = defaultdict(float)
    spared: dict[str, float] = defaultdict(float)
    because: dict[str, list[str]] = defaultdict(list)
    for pool, group in groups:
        vcpus = float(pool.vcpu_per_node * largest(pool, group))
        code = group.capacity.quota or _vcpu_quota(group, catalog)
        if not code:
            continue
        told = f"{largest(pool, group)} x {pool.vcpu_per_node} of {group.name}"
        if counts_vcpus(group):
            counted[code] += vcpus
            because[code].append(told)
        else:
            spared[code] += vcpus
    rows = {row.quota_code: row for row in catalog.limits() if row.area == "ec2-quota"}
    for code in sorted({*counted, *spared}):
        row = rows.get(code)
        apart = f"{spared[code]:,.0f} vCPUs of reserved and Capacity Block nodes do not count" if spared[code] else ""
        shown = because[code][:4] + ([f"{len(because[code]) - 4} more"] if len(because[code]) > 4 else [])
        yield Demand(
            limit_id=row.id if row is not None else f"vcpu-{code}",
            what=row.what if row is not None else f"vCPUs of quota {code}",
            used=counted.get(code, 0.0),
            because="; ".join(part for part in (" + ".join(shown), apart) if part),
            quota_code=code,
            not_counted=code not in counted,
            unit="vCPUs",
            scope="region",
        )


def counts_vcpus(group: NodeGroupPlan) -> bool:
    """Tell whether a node group's mode consumes a vCPU quota; reserved and Capacity Block instances do not."""
    return group.capacity.mode in ("on-demand", "spot")


def _vcpu_quota(group: NodeGroupPlan, catalog: "Catalog") -> str:
    from gpukit.catalog import UnknownName

    spot = group.capacity.mode == "spot"
    try:
        row = catalog.instance_type(group.instance_type)
    except UnknownName:
        return STANDARD_SPOT_VCPU_QUOTA if spot else STANDARD_VCPU_QUOTA
    return row.quota_code_spot if spot else row.quota_code_on_demand


def _capacity_blocks(groups: list[tuple[PoolPlan, NodeGroupPlan]], catalog: "Catalog") -> Iterator[Demand]:
    blocks = [(pool, group) for pool, group in groups if group.capacity.mode == "capacity-block"]
    if not blocks:
        return
    by_block: dict[str, int] = defaultdict(int)
    for pool, group in blocks:
        by_block[group.capacity.reservation_id or group.name] += largest(pool, group)
    biggest = max(by_block, key=lambda name: (by_block[name], name))
    yield Demand(
        limit_id="cb-instances",
        used=float(by_block[biggest]),
        because=f"the largest of {len(by_block)} block(s) is {biggest}",
        exclusive=True,
    )
    total = sum(by_block.values())
    yield Demand(limit_id="cb-total", used=float(total), because=f"{total} instances over {len(by_block)} block(s)")


def _placement(groups: list[tuple[PoolPlan, NodeGroupPlan]]) -> Iterator[Demand]:
    own = {group.placement_group for _, group in groups if group.owns_placement_group}
    yield Demand(
        limit_id="pg-per-account",
        used=float(len(own)),
        because="placement groups that the stack makes: " + str(len(own)),
    )


def _eks(groups: list[tuple[PoolPlan, NodeGroupPlan]], kubernetes: KubernetesPlan) -> Iterator[Demand]:
    yield Demand(limit_id="eks-clusters", used=1.0, because="the stack makes one cluster")
    yield Demand(
        limit_id="eks-mng-per-cluster",
        used=float(len(groups)),
        because="one node group for each capacity source or zone, never one a node",
    )
    if groups:
        pool, group = max(groups, key=lambda pair: (largest(*pair), pair[1].name))
        yield Demand(
            limit_id="eks-mng-nodes",
            used=float(largest(pool, group)),
            because=f"the largest node group is {group.name}",
        )
        total = sum(largest(*pair) for pair in groups)
        yield Demand(limit_id="eks-nodes", used=float(total), because=f"{total:,} nodes over {len(groups)} node groups")
        most = max(groups, key=lambda pair: (len(pair[1].instance_types), pair[1].name))[1]
        yield Demand(
            limit_id="eks-types-per-mng",
            used=float(len(most.instance_types)),
            because=f"{most.name} lists the most types",
            exclusive=True,
        )
    yield Demand(
        limit_id="eks-public-cidr",
        used=float(len(kubernetes.public_endpoint_cidrs)),
        because="networks that may reach the public endpoint",
        exclusive=True,
    )
    yield Demand(
        limit_id="asg-per-region",
        used=float(len(groups)),
        because="EKS makes one Auto Scaling group for each node group",
    )


def _launch(groups: list[tuple[PoolPlan, NodeGroupPlan]], all_pools: Sequence[PoolPlan]) -> Iterator[Demand]:
    yield Demand(
        limit_id="lt-per-region",
        used=float(len(groups)),
        limit=5000.0,
        unit="launch templates",
        because="one launch template for each node group",
    )
    yield Demand(
        limit_id="lt-per-region",
        name="versions",
        what="versions of one launch template",
        used=1.0,
        limit=10_000.0,
        unit="versions",
        scope="launch-template",
        because="the first deployment makes version 1; every change of a node group adds one",
        how_to_raise="delete old versions",
    )
    tagged = max((len(group.tags) for _, group in groups), default=0)
    yield Demand(
        limit_id="lt-tags",
        used=float(tagged),
        because="tags on each instance of the node group that has most",
        exclusive=True,
    )
    for pool in all_pools:
        if pool.boot:
            size = sum(len(hook.content.encode()) for hook in pool.boot)
            yield Demand(
                limit_id="userdata",
                name=pool.name,
                used=float(size),
                scope=f"pool {pool.name}",
                because=f"{len(pool.boot)} boot hook(s) of {size:,} bytes; gpukit's own part and EKS's come on top",
            )


def _volumes(
    groups: list[tuple[PoolPlan, NodeGroupPlan]], storage: Sequence[StoragePlan], catalog: "Catalog"
) -> Iterator[Demand]:
    gib: dict[str, float] = defaultdict(float)
    because: dict[str, list[str]] = defaultdict(list)
    for pool, group in groups:
        volume = group.root_volume
        count = largest(pool, group)
        gib[volume.volume_type] += count * volume.gib
        because[volume.volume_type].append(f"{count} x {volume.gib} GiB of {group.name}")
    for store in storage:
        if store.kind == "ebs" and store.existing_id is None and store.gib is not None:
            volume_type = store.volume_type or "gp3"
            gib[volume_type] += store.gib
            because[volume_type].append(f"{store.gib:,} GiB of storage.{store.name}")
    for volume_type in sorted(gib):
        told = because[volume_type]
        yield Demand(
            limit_id=f"ebs-{volume_type}-storage",
            what=f"{volume_type} storage per Region",
            used=gib[volume_type] / 1024,
            unit="TiB",
            scope="region",
            because=" + ".join(told[:4] + ([f"{len(told) - 4} more"] if len(told) > 4 else [])),
            source="memory",
        )


def _file_systems(storage: Sequence[StoragePlan], pools: Sequence[PoolPlan], network: NetworkPlan) -> Iterator[Demand]:
    made = [store for store in storage if store.existing_id is None]
    for prefix, start in (("fsx-p2", "PERSISTENT_2"), ("fsx-p1", "PERSISTENT_1"), ("fsx-scratch", "SCRATCH")):
        lustre = [store for store in made if store.kind == "lustre" and (store.deployment_type or "").startswith(start)]
        if not lustre:
            continue
        sizes = [store.gib for store in lustre if store.gib is not None]
        if prefix != "fsx-p1":
            yield Demand(limit_id=f"{prefix}-fs", used=float(len(lustre)), because=f"Lustre file systems of {start}")
        yield Demand(
            limit_id=f"{prefix}-cap",
            used=float(sum(sizes)) if len(sizes) == len(lustre) else None,
            because=" + ".join(
                f"{store.gib:,} GiB of storage.{store.name}" for store in lustre if store.gib is not None
            ),
        )
    for store in made:
        if store.kind == "lustre" and store.efa:
            clients = [(pool, min(pool.efa_interfaces_per_node, LUSTRE_EFA_INTERFACES)) for pool in pools if pool.efa]
            yield Demand(
                limit_id="fsx-efa-conn",
                name=store.name,
                used=float(sum(pool.max_nodes * count for pool, count in clients)),
                scope=f"storage.{store.name}",
                because=" + ".join(f"{pool.max_nodes} nodes of {pool.name} x {count}" for pool, count in clients)
                or "no client uses EFA",
                exclusive=True,
                how_to_raise="it cannot be raised: mount it over EFA on fewer nodes, or use two file systems",
            )
    backups = sum(store.backup_days for store in made if store.kind == "lustre")
    if backups:
        yield Demand(
            limit_id="fsx-backups", used=float(backups), because="one automatic backup a day for each day kept"
        )
    shared = [store for store in made if store.kind == "efs"]
    if shared:
        yield Demand(limit_id="efs-fs", used=float(len(shared)), because="EFS file systems of the stack")
        targets = _mount_targets(shared, max(1, len(network.availability_zones)))
        yield Demand(limit_id="efs-mt", used=float(targets), limit=400.0, unit="mount targets", because="one a zone")


def _identities(all_pools: Sequence[PoolPlan], kubernetes: KubernetesPlan | None) -> Iterator[Demand]:
    identities = sum(1 for pool in all_pools if pool.pod_identities)
    roles = len(all_pools) + identities + (1 if kubernetes is not None else 0)
    yield Demand(
        limit_id="iam-roles",
        used=float(roles),
        because=f"{len(all_pools)} for pools + {identities} for pods" + (" + 1 for the cluster" if kubernetes else ""),
    )
    most = max((len(pool.policies) for pool in all_pools), default=0)
    if most:
        yield Demand(
            limit_id="iam-role-policies",
            used=float(most),
            because=f"{most} of your own on one pool's role; gpukit attaches its own besides",
        )
