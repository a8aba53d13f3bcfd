"""Show a plan to people: verdict and numbers first, then tables, then what needs a second look."""

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from gpukit.cli.output import console, number, usd
from gpukit.counted import counted
from gpukit.plan import Plan

if TYPE_CHECKING:
    from rich.console import Console

EXASCALE_PFLOPS = 1000
"""Dense BF16 PFLOPS from which a cluster is called exascale here: 10**18 operations a second."""


def print_plan(plan: Plan, *, asked: str, all_limits: bool = False) -> None:
    """Print the plan on stdout; `asked` are the arguments that named it, for the hint to the next command."""
    out = console()
    _headline(out, plan)
    _pools(out, plan)
    _network(out, plan)
    _storage(out, plan)
    _cooling(out, plan)
    _images(out, plan)
    _limits(out, plan, all_limits)
    _costs(out, plan)
    for item in plan.not_built:
        out.print(Text(f"not built: {item.section}: {item.says}", style="yellow"))
    out.print(Text(f"\nWhy ({len(plan.decisions)} decisions): gpukit explain {_example(plan)} {asked}"), soft_wrap=True)


def _headline(out: "Console", plan: Plan) -> None:
    totals = plan.totals
    parts = [plan.preset or plan.name, plan.environment, plan.region] + ([plan.team] if plan.team else [])
    out.print(Text(" · ".join(parts), style="bold"))
    groups = counted(totals.node_groups, "node group")
    nodes = f"{counted(totals.gpus, 'GPU')} on {counted(totals.nodes, 'node')} in {groups}"
    if plan.kind == "workstation":
        nodes = f"{counted(totals.gpus, 'GPU')} on {counted(totals.nodes, 'instance')}"
    efa = f", {totals.efa_interfaces:,} EFA interfaces" if totals.efa_interfaces else ""
    exascale = " (an exascale cluster)" if (totals.dense_bf16_pflops or 0) >= EXASCALE_PFLOPS else ""
    digits = 0 if (totals.dense_bf16_pflops or 0) >= 10 else 2
    out.print(f"  {nodes}{efa}, {number(totals.dense_bf16_pflops, digits)} dense BF16 PFLOPS{exascale}")
    lines = "line" if totals.unpriced == 1 else "lines"
    unpriced = f" ({totals.unpriced} {lines} without a price or an amount)" if totals.unpriced else ""
    out.print(f"  {usd(totals.hourly_usd)} an hour, {usd(totals.monthly_usd)} a month at list price{unpriced}")
    out.print(
        f"  {number(totals.it_kw, 1)} kW of IT power, {number(totals.facility_kw, 1)} kW with cooling, "
        f"{number(totals.kgco2e_per_month)} kgCO2e a month"
    )


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        name = column.removesuffix(">")
        table.add_column(name, justify="right" if column.endswith(">") else "left", overflow="fold")
    return table


def _pools(out: "Console", plan: Plan) -> None:
    table = _table(
        "\nNode groups", "name", "nodes>", "type", "zone", "capacity", "placement group", "interfaces", "root GiB>"
    )
    for pool in plan.all_pools:
        shown = pool.node_groups if len(pool.node_groups) <= 6 else (*pool.node_groups[:3], pool.node_groups[-1])
        for index, group in enumerate(shown):
            if len(shown) < len(pool.node_groups) and index == 3:
                table.add_row(f"… {len(pool.node_groups) - 4} more like these", "", "", "", "", "", "", "")
            nodes = (
                f"{group.instances:,}"
                if group.min_instances == group.max_instances
                else f"{group.min_instances:,}–{group.max_instances:,}"
            )
            if group.opens:
                nodes = f"0 until {group.opens}"
            interfaces = f"{len(group.network_interfaces)}" + (
                f", {group.efa_interfaces} EFA" if group.efa_interfaces else ""
            )
            table.add_row(
                group.name,
                nodes,
                " or ".join(group.instance_types[:3]),
                ", ".join(group.availability_zones),
                group.capacity.mode + (f" {group.capacity.reservation_id}" if group.capacity.reservation_id else ""),
                group.placement_group or "none",
                interfaces,
                f"{group.root_gib:,}",
            )
    out.print(table)


def _network(out: "Console", plan: Plan) -> None:
    table = _table("\nSubnets", "name", "CIDR", "needed>", "usable>")
    for subnet in plan.network.subnets:
        usable = number(subnet.usable_addresses)
        table.add_row(subnet.name, subnet.cidr or subnet.existing_id or "", f"{subnet.needed_addresses:,}", usable)
    out.print(table)
    network = plan.network
    endpoints = ", ".join(network.endpoints) or "none"
    out.print(f"  out by {network.egress}: {counted(network.nat_gateways, 'NAT gateway')}, endpoints {endpoints}")


def _storage(out: "Console", plan: Plan) -> None:
    if not plan.storage:
        return
    table = _table("\nStorage", "name", "kind", "mount", "GiB>", "MB/s per TiB>", "GB/s>", "EFA", "zone")
    for store in plan.storage:
        table.add_row(
            store.name,
            store.kind if store.existing_id is None else f"{store.kind} {store.existing_id}",
            store.mount_path,
            f"{store.gib:,}" if store.gib is not None else "as used",
            number(store.tier_mb_s_per_tib) if store.tier_mb_s_per_tib else "",
            number(store.throughput_gb_s, 1) if store.throughput_gb_s is not None else "",
            "yes" if store.efa else "",
            store.availability_zone or "",
        )
    out.print(table)


def _cooling(out: "Console", plan: Plan) -> None:
    if not plan.cooling_zones:
        return
    table = _table(
        "\nCooling zones", "name", "method", "nodes>", "kW>", "envelope kW>", "used>", "racks>", "kW a rack>"
    )
    for zone in plan.cooling_zones:
        table.add_row(
            zone.name,
            zone.method,
            f"{zone.nodes:,}",
            number(zone.it_kw, 1),
            number(zone.envelope_kw),
            number(zone.used_pct, 0, " %"),
            number(zone.racks),
            number(zone.kw_per_rack, 1),
        )
    out.print(table)


def _images(out: "Console", plan: Plan) -> None:
    table = _table("\nImages", "name", "pinned to", "container", "driver", "CUDA", "EFA")
    for image in plan.images:
        pin = (
            image.ami_id
            or image.ami_name
            or " ".join(filter(None, (image.ami_type, image.release_version)))
            or image.source
        )
        parts = image.components
        table.add_row(
            image.name,
            pin,
            image.container or "",
            parts.get("driver", ""),
            parts.get("cuda", ""),
            parts.get("efa", parts.get("efa_installer", "")),
        )
    out.print(table)


def _limits(out: "Console", plan: Plan, all_limits: bool) -> None:
    near = [line for line in plan.limits if all_limits or line.verdict not in ("fine", "not-counted")]
    table = _table(
        "\nLimits" if all_limits else "\nLimits to look at", "limit", "used>", "limit>", "%>", "verdict", "quota"
    )
    styles = {"error": "red", "warning": "yellow", "unknown": "yellow"}
    for line in near:
        table.add_row(
            line.what,
            number(line.used),
            number(line.limit),
            number(line.pct) if line.pct is not None else "",
            Text(line.verdict, style=styles.get(line.verdict, "")),
            line.quota_code or "",
        )
    if near:
        out.print(table)
    hidden = len(plan.limits) - len(near)
    if hidden:
        out.print(f"  {hidden} more limits are fine or not counted (--limits shows them)")


def _costs(out: "Console", plan: Plan) -> None:
    table = _table("\nCost at list price", "what", "$/hour>", "$/month>")
    lines = sorted(plan.costs, key=lambda line: -(line.hourly_usd or 0))
    for line in lines[:8]:
        table.add_row(line.subject, usd(line.hourly_usd), usd(line.monthly_usd))
    rest = lines[8:]
    if rest:
        known = [line.hourly_usd for line in rest if line.hourly_usd is not None]
        monthly = [line.monthly_usd for line in rest if line.monthly_usd is not None]
        table.add_row(f"{len(rest)} more (gpukit cost)", usd(sum(known)), usd(sum(monthly)))
    out.print(table)


def _example(plan: Plan) -> str:
    subjects = [item.subject for item in plan.decisions]
    wanted = [name for name in subjects if name.endswith((".placement_group", ".node_groups"))]
    return (wanted or subjects or ["region"])[0]
