"""
Split a pool into node groups by its capacity sources, and apply the capacity-modes table to each.

The table (`catalog/data/capacity_modes.csv`) is the only place that says what a mode means for placement, scaling,
surge, quotas and targets. Nothing here asks for a mode by name.
"""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from gpukit.plan import Decision

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.catalog.rules import CapacityMode as CapacityModeRow
    from gpukit.spec.model import CapacitySpec, PoolSpec, ReservationSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupShare:
    """The part of a pool that one node group takes."""

    source: "CapacitySpec"
    reservation: "ReservationSpec | None"
    row: "CapacityModeRow"
    instances: int
    min_instances: int
    max_instances: int
    opens: str | None = None
    """Day when a block opens that is not open yet; the group is declared at 0 until then."""


def find_mode_row(catalog: "Catalog", *, mode: str, reservation: str, nodes: int, efa: bool) -> "CapacityModeRow":
    """
    Return the row of the capacity-modes table for a group.

    `reservation` is none, id or resource-group. A source that has not named its reservation yet follows the row of the
    same mode by id, because naming it later must change nothing else.
    """
    kinds = {row.reservation for row in catalog.capacity_modes() if row.mode == mode}
    wanted = reservation if reservation in kinds else ("id" if "id" in kinds else "none")
    return catalog.capacity_mode(mode, nodes=nodes, efa=efa, reservation=wanted)


def split_into_groups(
    pool: "PoolSpec", *, catalog: "Catalog", efa: bool, rack_instances: int | None, today: date | None
) -> tuple[GroupShare, ...]:
    """
    Split a pool into the shares of its node groups.

    128 nodes of Capacity Blocks without named reservations -> 64 + 64; with reservations, one group each; 252 nodes in
    racks of 18 -> 14 groups. The order is stable: growing a pool changes the last group and appends new ones.
    """
    shares: list[GroupShare] = []
    left_min, left_max = pool.nodes.min, pool.nodes.max
    for source in pool.capacity:
        kind = "id" if source.reservations else ("resource-group" if source.reservation_group_arn else "none")
        row = find_mode_row(catalog, mode=str(source.mode), reservation=kind, nodes=pool.nodes.max, efa=efa)
        stated = sum(item.nodes for item in source.reservations) if source.reservations else source.nodes
        give_max = left_max if stated is None else min(stated, left_max)
        if row.scaling == "min..max":
            give_min = min(left_min, give_max)
            shares.extend(_chunks(source, row, give_min, give_max, rack_instances))
            left_min -= give_min
        elif source.reservations:
            shares.extend(_by_reservation(source, row, give_max, rack_instances, today))
            left_min -= min(left_min, give_max)
        else:
            shares.extend(_chunks(source, row, give_max, give_max, rack_instances))
            left_min -= min(left_min, give_max)
        left_max -= give_max
    return tuple(shares)


def _by_reservation(
    source: "CapacitySpec", row: "CapacityModeRow", nodes: int, rack_instances: int | None, today: date | None
) -> list[GroupShare]:
    shares: list[GroupShare] = []
    for reservation in source.reservations:
        take = min(reservation.nodes, nodes)
        nodes -= take
        closed = today is not None and reservation.starts is not None and today < reservation.starts
        opens = reservation.starts.isoformat() if closed and reservation.starts is not None else None
        size = 0 if opens else take
        shares.append(
            GroupShare(
                source=source,
                reservation=reservation,
                row=row,
                instances=size,
                min_instances=size,
                max_instances=size if row.scaling == "fixed" and size else max(take, 1),
                opens=opens,
            )
        )
    return shares


def _chunks(
    source: "CapacitySpec", row: "CapacityModeRow", low: int, high: int, rack_instances: int | None
) -> list[GroupShare]:
    size = rack_instances or row.max_instances_per_group or max(high, 1)
    shares: list[GroupShare] = []
    while high > 0 or not shares:
        top = min(size, high)
        bottom = min(top, low)
        shares.append(
            GroupShare(
                source=source,
                reservation=None,
                row=row,
                instances=bottom,
                min_instances=bottom,
                max_instances=max(top, 1),
            )
        )
        high -= top
        low -= bottom
    return shares


def explain_split(pool_name: str, shares: tuple[GroupShare, ...], rack_instances: int | None) -> list[Decision]:
    """Return why the pool has these node groups, and what the mode decides for each."""
    sizes = " + ".join(str(share.max_instances if share.opens else share.instances) for share in shares[:6])
    sizes += f" + {len(shares) - 6} more" if len(shares) > 6 else ""
    row = shares[0].row
    if rack_instances:
        because = f"one UltraServer is one Capacity Block of {rack_instances} instances"
    elif shares[0].reservation is not None:
        because = "each reservation is a node group of its own, so that the launch template can name it"
    elif len(shares) > 1:
        because = f"a {row.mode} node group holds at most {row.max_instances_per_group} instances"
    else:
        because = "one capacity source gives one node group, never one a node"
    decisions = [
        Decision(
            subject=f"pools.{pool_name}.node_groups",
            choice=f"{len(shares)} ({sizes})",
            because=because,
            source=row.source,
        )
    ]
    for seen in dict.fromkeys(share.row for share in shares):
        decisions.append(
            Decision(
                subject=f"pools.{pool_name}.capacity.{seen.mode}",
                choice=f"scaling {seen.scaling}, surge {seen.update_surge}, "
                f"vCPU quota {seen.quota}, target {seen.target}",
                because=seen.because,
                source=seen.source,
            )
        )
    return decisions
