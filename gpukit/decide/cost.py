"""Price the plan at list prices: one line a thing that costs money, with source and date, and what is not priced."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gpukit.plan import HOURS_PER_MONTH, CostLine, KubernetesPlan, NetworkPlan, NodeGroupPlan, PoolPlan, StoragePlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog, Fact


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
    """Return the lines of the bill: nodes, root volumes, control plane, ways out, file systems."""
    lines: list[CostLine] = []
    for pool in pools:
        for group in pool.node_groups:
            lines.append(_node_line(group, region, catalog))
    root_gib = sum(group.root_gib * group.instances for pool in pools for group in pool.node_groups)
    volume_type = pools[0].node_groups[0].root_volume.volume_type if pools else "gp3"
    lines.append(_by_month("root volumes", root_gib, "GB-month", _volume_price(volume_type, catalog)))
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


def _store_lines(store: StoragePlan, catalog: "Catalog") -> list[CostLine]:
    if store.existing_id is not None:
        return []
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
