"""Price the plan at list prices: one line a thing that costs money, with source and date, and what is not priced."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from gpukit.decide.storage import automatic_metadata_iops
from gpukit.plan import HOURS_PER_MONTH, CostLine, KubernetesPlan, NetworkPlan, NodeGroupPlan, PoolPlan, StoragePlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog, Fact

_GP3_IOPS: Final = 3_000
_GP3_MB_S: Final = 125
"""What every gp3 volume has without a price of its own. Source: prices.csv, `ebs-gp3-iops-month` and its neighbour."""
_IO2_FIRST_IOPS: Final = 32_000
"""IOPS of a volume at io2's first price; no source gives the bounds of the lower prices above. Source: prices.csv."""


def node_price(instance_type: str, market_type: str | None, region: str, catalog: "Catalog") -> "Fact | None":
    """
    Return the list price of one instance hour in USD, or None where no source gives it.

    A market of its own has a price of its own: a Capacity Block's is listed (an UltraServer's is shared out over its
    instances), a spot price is no list price and stays unknown. A reservation is billed as on-demand.
    """
    if market_type == "capacity-block":
        return catalog.capacity_block_usd_per_hour(instance_type, region)
    return None if market_type else catalog.on_demand_usd_per_hour(instance_type, region)


def price_plan(
    *,
    pools: Sequence[PoolPlan],
    network: NetworkPlan,
    kubernetes: KubernetesPlan | None,
    storage: Sequence[StoragePlan],
    region: str,
    catalog: "Catalog",
) -> tuple[CostLine, ...]:
    """Return the lines of the bill: nodes, root volumes, control plane, ways out, stores and their performance."""
    lines: list[CostLine] = []
    for pool in pools:
        for group in pool.node_groups:
            lines.append(_node_line(group, region, catalog))
    lines.extend(_root_lines(pools, catalog))
    if kubernetes is not None:
        lines.append(_by_hour("EKS control plane", 1, _price(catalog, "eks-cluster-hour")))
    if network.nat_gateways:
        lines.append(_by_hour("NAT gateways", network.nat_gateways, _price(catalog, "nat-gateway-hour")))
        lines.append(_by_hour("public IPv4 addresses", network.nat_gateways, _price(catalog, "public-ipv4-hour")))
    interface_endpoints = [name for name in network.endpoints if name != "s3"]
    if interface_endpoints:
        zones = len({subnet.availability_zone for subnet in network.subnets if subnet.role in ("system", "gpu")})
        count = len(interface_endpoints) * max(1, zones)
        lines.append(_by_hour("interface endpoints", count, _price(catalog, "interface-endpoint-hour")))
    for store in storage:
        lines.extend(_store_lines(store, catalog))
    return tuple(lines)


def _node_line(group: NodeGroupPlan, region: str, catalog: "Catalog") -> CostLine:
    price = node_price(group.instance_type, group.capacity.market_type, region, catalog)
    return _line(f"nodes {group.name} ({group.instance_type})", group.instances, "instance", price)


def _root_lines(pools: Sequence[PoolPlan], catalog: "Catalog") -> Iterator[CostLine]:
    groups = [group for pool in pools for group in pool.node_groups]
    types = list(dict.fromkeys(group.root_volume.volume_type for group in groups)) or ["gp3"]
    for volume_type in types:
        subject = "root volumes" if len(types) == 1 else f"root volumes ({volume_type})"
        same = [group for group in groups if group.root_volume.volume_type == volume_type]
        gib = sum(group.root_gib * group.instances for group in same)
        yield _by_month(subject, gib, "GB-month", _volume_price(volume_type, catalog))
        volumes = [
            (group.instances, group.root_volume.iops, group.root_volume.throughput_mb_s)
            for group in same
            if group.instances
        ]
        yield from _performance_lines(subject, volume_type, volumes, catalog)


def _performance_lines(
    subject: str, volume_type: str | None, volumes: Sequence[tuple[int, int | None, int | None]], catalog: "Catalog"
) -> Iterator[CostLine]:
    """Yield what volumes (count, IOPS, MB/s) cost beyond their size; nothing where the size pays for everything."""
    if volume_type == "gp3":
        iops = sum(count * max(0, (each or 0) - _GP3_IOPS) for count, each, _ in volumes)
        mb_s = sum(count * max(0, (each or 0) - _GP3_MB_S) for count, _, each in volumes)
        if iops:
            price = _price(catalog, "ebs-gp3-iops-month")
            yield _by_month(f"{subject}, IOPS above {_GP3_IOPS:,}", iops, "IOPS-month", price)
        if mb_s:
            price = _price(catalog, "ebs-gp3-mb-s-month")
            yield _by_month(f"{subject}, throughput above {_GP3_MB_S} MB/s", mb_s, "MB/s-month", price)
    elif volume_type in ("io1", "io2"):
        bound = _IO2_FIRST_IOPS if volume_type == "io2" else 0
        first = sum(count * min(each or 0, bound) for count, each, _ in volumes)
        above = sum(count * max(0, (each or 0) - bound) for count, each, _ in volumes)
        if first:
            yield _by_month(f"{subject}, IOPS", first, "IOPS-month", _price(catalog, "ebs-io2-iops-month"))
        if above:
            what = f"IOPS above {bound:,}" if bound else "IOPS"
            yield _by_month(f"{subject}, {what}", above, "IOPS-month", None)


def _store_lines(store: StoragePlan, catalog: "Catalog") -> list[CostLine]:
    """Return what a store costs; what is there already is on another bill."""
    if store.existing_id is not None:
        return []
    lines = _capacity_lines(store, catalog)
    if store.kind == "lustre":
        lines.extend(_metadata_lines(store, catalog))
    if store.kind == "ebs":
        volumes = [(1, store.iops, store.throughput_mb_s)]
        lines.extend(_performance_lines(f"storage {store.name} (EBS)", store.volume_type, volumes, catalog))
    if store.kind in ("lustre", "efs") and store.backup_days:
        # how much changes in a day is not known, and no source gives the price
        service = "FSx for Lustre" if store.kind == "lustre" else "EFS"
        lines.append(_by_month(f"storage {store.name} ({service}, backups)", None, "GB-month", None))
    return lines


def _metadata_lines(store: StoragePlan, catalog: "Catalog") -> Iterator[CostLine]:
    if store.metadata_iops is None or store.deployment_type != "PERSISTENT_2":
        return
    included = automatic_metadata_iops(store.gib, catalog) if store.gib is not None else None
    above = max(0, store.metadata_iops - included) if included is not None else None
    if above == 0:
        return
    subject = f"storage {store.name} (FSx for Lustre, metadata IOPS above what its size includes)"
    yield _by_month(subject, above, "IOPS-month", _price(catalog, "fsx-metadata-iops-month"))


def _capacity_lines(store: StoragePlan, catalog: "Catalog") -> list[CostLine]:
    if store.kind == "lustre":
        price = store.usd_per_hour
        offer = next(
            (
                item
                for item in catalog.storage_offers()
                if item.kind == "lustre"
                and item.deployment_type == store.deployment_type
                and item.tier_mb_s_per_tib == store.tier_mb_s_per_tib
                and item.efa == store.efa
            ),
            None,
        )
        return [
            CostLine(
                subject=f"storage {store.name} (FSx for Lustre)",
                quantity=store.gib or 0,
                unit="GiB",
                unit_usd_per_hour=price / store.gib if price is not None and store.gib else None,
                hourly_usd=price,
                monthly_usd=price * HOURS_PER_MONTH if price is not None else None,
                source=offer.source if offer else "",
                as_of=offer.price_as_of or offer.as_of if offer else "",
            )
        ]
    if store.kind == "ebs":
        return [
            _by_month(f"storage {store.name} (EBS)", store.gib, "GB-month", _volume_price(store.volume_type, catalog))
        ]
    if store.kind in ("efs", "s3"):
        fact = _price(catalog, "efs-standard-gb-month" if store.kind == "efs" else "s3-standard-gb-month")
        # only the user knows what will be stored: without a size there is a price and no amount
        return [
            _by_month(f"storage {store.name} ({store.kind.upper()}, by what is stored)", store.gib, "GB-month", fact)
        ]
    return []


def _volume_price(volume_type: str | None, catalog: "Catalog") -> "Fact | None":
    from gpukit.catalog import Fact

    for offer in catalog.storage_offers("ebs"):
        if offer.storage_class.split()[0] == volume_type and offer.usd_per_gb_month is not None:
            return Fact(value=offer.usd_per_gb_month, unit="USD/GB-month", source=offer.source, as_of=offer.as_of)
    return None


def _price(catalog: "Catalog", id: str) -> "Fact | None":
    from gpukit.catalog import UnknownName

    try:
        return catalog.price(id).fact()
    except UnknownName:
        return None


def _by_hour(subject: str, quantity: int, price: "Fact | None") -> CostLine:
    return _line(subject, quantity, "piece", price)


def _by_month(subject: str, quantity: int | None, unit: str, price: "Fact | None") -> CostLine:
    hourly = price.value / HOURS_PER_MONTH if price is not None else None
    return CostLine(
        subject=subject,
        quantity=quantity,
        unit=unit,
        unit_usd_per_hour=hourly,
        hourly_usd=quantity * hourly if hourly is not None and quantity is not None else None,
        monthly_usd=quantity * price.value if price is not None and quantity is not None else None,
        source=price.source if price else "",
        as_of=price.as_of if price else "",
    )


def _line(subject: str, quantity: int, unit: str, price: "Fact | None") -> CostLine:
    hourly = price.value if price is not None else None
    return CostLine(
        subject=subject,
        quantity=quantity,
        unit=unit,
        unit_usd_per_hour=hourly,
        hourly_usd=quantity * hourly if hourly is not None else None,
        monthly_usd=quantity * hourly * HOURS_PER_MONTH if hourly is not None else None,
        source=price.source if price else "",
        as_of=price.as_of if price else "",
    )


def sum_known(values: Sequence[float | None]) -> float | None:
    """Return the sum of the known values; None where nothing is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None
