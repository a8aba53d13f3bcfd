"""Size the network from what the plan puts into it: zones, subnets, ways out, endpoints."""

import ipaddress
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gpukit.plan import Decision, NetworkPlan, PoolPlan, PortPlan, StoragePlan, SubnetPlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.spec.model import NetworkSpec

DEFAULT_CIDR: Final = "10.0.0.0/16"
"""Block of a new VPC: the largest that a VPC takes. Source: VPC User Guide, "VPC CIDR blocks"."""
RESERVED_ADDRESSES: Final = 5
"""Addresses that AWS keeps in each subnet. Source: VPC User Guide, "Subnet CIDR blocks"."""
POD_ADDRESSES_PER_NODE: Final = 32
"""Two /28 prefixes a node: daemons and a job's pods; over-counting is safe, under-counting strands nodes."""
SPARE_SHARE: Final = 1.25
"""Room for nodes that are replaced while the old ones still stand."""
_FULL_SHARE: Final = 0.7
"""A subnet is made larger before it is 70 % full: the limits table warns from there on."""
_ENDPOINTS_WITH_NAT: Final = ("s3",)
_ENDPOINTS_CLOSED: Final = (
    "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem", "fsx", "kms", "logs", "monitoring", "s3",
    "ssm", "ssmmessages", "ec2messages", "sts", "autoscaling",
)  # fmt: skip
_ENDPOINTS_WORKSTATION: Final = ("ec2messages", "logs", "monitoring", "s3", "ssm", "ssmmessages", "sts", "kms", "ec2")


def needed_addresses(pool: PoolPlan, *, pods: bool) -> int:
    """Return the addresses that a pool needs at full size: its interfaces, and its pods where they share the subnet."""
    per_node = pool.addresses_per_node + (POD_ADDRESSES_PER_NODE if pods else 0)
    return int(pool.max_nodes * per_node * SPARE_SHARE) + 1


def lustre_addresses(storage: Sequence[StoragePlan]) -> int:
    """Return the addresses of Lustre servers: at most one per 2,400 GiB of storage and one per 12,000 metadata IOPS."""
    total = 0
    for store in storage:
        if store.kind == "lustre" and store.existing_id is None:
            total += -(-(store.gib or 0) // 2400) + max(1, -(-(store.metadata_iops or 0) // 12_000))
    return total


def plan_network(
    spec: "NetworkSpec",
    *,
    region: str,
    kind: str,
    pools: Sequence[PoolPlan],
    storage: Sequence[StoragePlan],
    control_zones: tuple[str, ...],
    efa: bool,
    catalog: "Catalog",
) -> tuple[NetworkPlan, list[Decision]]:
    """Return the network with every subnet sized, and why."""
    decisions: list[Decision] = []
    workstation = kind == "workstation"
    subnets = (
        _existing_subnets(spec, pools)
        if spec.existing is not None
        else _lay_out_subnets(spec, pools, storage, control_zones, workstation, decisions)
    )
    egress = str(spec.egress)
    nat = (
        0
        if egress == "endpoints" or spec.existing is not None
        else (1 if spec.nat_gateways is None else spec.nat_gateways)
    )
    if spec.existing is not None:
        endpoints: tuple[str, ...] = ()
    elif egress == "endpoints":
        endpoints = tuple(sorted(_ENDPOINTS_WORKSTATION if workstation else _ENDPOINTS_CLOSED))
    else:
        endpoints = _ENDPOINTS_WITH_NAT
    decisions.append(
        Decision(
            subject="network.egress",
            choice=f"{egress}, {nat} NAT gateways, endpoints: {', '.join(endpoints) or 'none'}",
            because="nodes are private: they take no inbound connection and reach AWS through these ways only",
            source='EC2 User Guide, "EFA": instances with several network interfaces get no public address',
        )
    )
    zones = tuple(dict.fromkeys(subnet.availability_zone for subnet in subnets))
    return (
        NetworkPlan(
            existing_vpc_id=spec.existing.vpc_id if spec.existing else None,
            cidr=(spec.existing.cidr or "") if spec.existing else (spec.cidr or DEFAULT_CIDR),
            pod_cidr=spec.pod_cidr,
            availability_zones=zones,
            subnets=subnets,
            egress=egress,
            nat_gateways=nat,
            endpoints=endpoints,
            extra_security_groups=tuple(spec.security_groups),
            ports=tuple(
                PortPlan(
                    protocol=port.protocol,
                    from_port=port.port,
                    to_port=port.to_port if port.to_port is not None else port.port,
                    cidr=port.cidr,
                    description=port.description,
                )
                for port in spec.ports
            ),
            flow_log_retention_days=spec.flow_log_days,
            efa=efa,
            lustre=any(store.kind == "lustre" for store in storage),
        ),
        decisions,
    )


def subnet_name(role: str, zone: str) -> str:
    """Return the name of the subnet of a role in a zone: `gpu-us-east-1a`."""
    return f"{role}-{zone}"


def _existing_subnets(spec: "NetworkSpec", pools: Sequence[PoolPlan]) -> tuple[SubnetPlan, ...]:
    assert spec.existing is not None
    needs = _needs_by_zone(pools, pods=spec.pod_cidr is None)
    return tuple(
        SubnetPlan(
            name=subnet_name("existing", zone),
            cidr="",
            availability_zone=zone,
            role="existing",
            usable_addresses=None,
            needed_addresses=needs.get(zone, 0),
            existing_id=subnet_id,
        )
        for zone, subnet_id in sorted(spec.existing.subnets.items())
    )


def _needs_by_zone(pools: Sequence[PoolPlan], *, pods: bool) -> dict[str, int]:
    needs: dict[str, int] = {}
    for pool in pools:
        zones = dict.fromkeys(zone for group in pool.node_groups for zone in group.availability_zones)
        for zone in zones:
            needs[zone] = needs.get(zone, 0) + needed_addresses(pool, pods=pods)
    return needs


def _lay_out_subnets(
    spec: "NetworkSpec",
    pools: Sequence[PoolPlan],
    storage: Sequence[StoragePlan],
    control_zones: tuple[str, ...],
    workstation: bool,
    decisions: list[Decision],
) -> tuple[SubnetPlan, ...]:
    block = _Block(spec.cidr or DEFAULT_CIDR)
    pods_inside = spec.pod_cidr is None and not workstation
    gpu_needs = _needs_by_zone([pool for pool in pools if pool.role == "gpu"], pods=pods_inside)
    store_zones = [store.availability_zone for store in storage if store.kind == "lustre" and store.availability_zone]
    for zone in store_zones:
        gpu_needs[zone] = gpu_needs.get(zone, 0) + lustre_addresses(storage)
    # A subnet that changes its block is replaced, with every node and file system in it. So each is far larger than its
    # need today, and none stands where another's growth would move it: growing a pool leaves the network alone.
    gpu_floor = 24 if workstation else _share_prefix(block, 1 + (max(len(gpu_needs), 2) - 1).bit_length())
    gpu_largest = 24 if workstation else 17
    sizes = {zone: _prefix(needed, largest=gpu_largest, smallest=gpu_floor) for zone, needed in gpu_needs.items()}
    subnets: list[SubnetPlan] = []
    # the large blocks first: they must stand at a multiple of their own size
    for zone in sorted(gpu_needs, key=lambda name: (sizes[name], name)):
        needed = gpu_needs[zone]
        subnet = _subnet(block, "gpu", zone, needed, prefix=sizes[zone])
        subnets.append(subnet)
        decisions.append(
            Decision(
                subject=f"network.subnets.{subnet.name}",
                choice=f"{subnet.cidr} ({subnet.usable_addresses:,} usable)",
                because=f"{needed:,} addresses are needed at full size: interfaces"
                + (f", {POD_ADDRESSES_PER_NODE} pod addresses a node" if pods_inside else "")
                + (", Lustre servers" if store_zones else "")
                + f", and a quarter to spare; the subnet is larger, because one that grows is replaced; AWS keeps "
                f"{RESERVED_ADDRESSES} of each",
                source='VPC User Guide, "Subnet CIDR blocks"',
            )
        )
    if not workstation:
        helper_needs = _needs_by_zone([pool for pool in pools if pool.role != "gpu"], pods=True)
        for zone in control_zones:
            needed = helper_needs.get(zone, 0) + 64
            prefix = _prefix(needed, largest=20, smallest=_share_prefix(block, 6))
            subnets.append(_subnet(block, "system", zone, needed, prefix=prefix))
    if str(spec.egress) == "nat":
        nat_zones = control_zones[: max(1, spec.nat_gateways if spec.nat_gateways is not None else 1)]
        for zone in nat_zones or control_zones[:1]:
            subnets.append(_subnet(block, "public", zone, 1, prefix=28))
    return tuple(sorted(subnets, key=lambda subnet: subnet.name))


def _share_prefix(block: "_Block", halvings: int) -> int:
    """Return the prefix of the VPC's block halved so many times, at the smallest /24."""
    return min(24, block.network.prefixlen + halvings)


def _prefix(needed: int, *, largest: int, smallest: int) -> int:
    """Return the prefix of the smallest block between the two bounds that holds the need with room."""
    prefix = smallest
    while (2 ** (32 - prefix) - RESERVED_ADDRESSES) * _FULL_SHARE < needed and prefix > largest:
        prefix -= 1
    return prefix


def _subnet(block: "_Block", role: str, zone: str, needed: int, *, prefix: int) -> SubnetPlan:
    cidr = block.take(prefix)
    return SubnetPlan(
        name=subnet_name(role, zone),
        cidr=cidr,
        availability_zone=zone,
        role=role,
        usable_addresses=2 ** (32 - int(cidr.split("/")[1])) - RESERVED_ADDRESSES,
        needed_addresses=needed,
    )


class _Block:
    """Gives out aligned sub-blocks of a VPC's block from its start."""

    def __init__(self, cidr: str) -> None:
        self.network = ipaddress.IPv4Network(cidr, strict=False)
        self.next = int(self.network.network_address)

    def take(self, prefix: int) -> str:
        """Return the next free block of that size, or the largest that is left where it does not fit."""
        prefix = max(prefix, self.network.prefixlen)
        end = int(self.network.broadcast_address) + 1
        for size in range(prefix, 29):
            step = 2 ** (32 - size)
            start = -(-self.next // step) * step
            if start + step <= end:
                self.next = start + step
                return f"{ipaddress.IPv4Address(start)}/{size}"
        # nothing is left: the check of overlapping subnets tells the user, the plan stays complete
        return f"{self.network.network_address}/28"
