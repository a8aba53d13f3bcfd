"""Ask where types are offered, and what reservations and Capacity Blocks really hold."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from gpukit.plan import NodeGroupPlan, Plan, PoolPlan
from gpukit.preflight.account import Account, Refused
from gpukit.preflight.answers import unknown_because
from gpukit.preflight.probe import ProbeResult, Verdict

ACTIONS = ("ec2:DescribeInstanceTypeOfferings", "ec2:DescribeCapacityReservations")


def ask_offerings(account: Account, plan: Plan) -> Iterator[ProbeResult]:
    """Yield one answer for each pool's type and zone: whether AWS offers it there."""
    asked: dict[str, set[str] | Refused] = {}
    for pool in plan.all_pools:
        path = f"pools.{pool.name}.zones"
        zones = dict.fromkeys(zone for group in pool.node_groups for zone in group.availability_zones)
        for name in dict.fromkeys(item for group in pool.node_groups for item in group.instance_types):
            if name not in asked:
                asked[name] = _zones_of(account, name)
            offered = asked[name]
            for zone in zones:
                question = f"is {name} offered in {zone}"
                if isinstance(offered, Refused):
                    yield unknown_because(offered, probe="offering", path=path, question=question)
                    continue
                there = zone in offered
                listed = ", ".join(sorted(offered))
                yield ProbeResult(
                    probe="offering",
                    path=path,
                    question=question,
                    verdict=Verdict.PASS if there else Verdict.FAIL,
                    answer="yes" if there else f"no; this account sees it in {listed or 'no zone of the region'}",
                    fix="" if there else (f"use {sorted(offered)[0]}" if offered else "use another region or type"),
                    action=ACTIONS[0],
                )


def _zones_of(account: Account, instance_type: str) -> set[str] | Refused:
    try:
        return {
            row["Location"]
            for row in account.ask_all(
                "ec2",
                "DescribeInstanceTypeOfferings",
                "InstanceTypeOfferings",
                LocationType="availability-zone",
                Filters=[{"Name": "instance-type", "Values": [instance_type]}],
            )
        }
    except Refused as refused:
        return refused


def ask_reservations(account: Account, plan: Plan, limits: dict[str, float]) -> Iterator[ProbeResult]:
    """Yield what AWS says of each named reservation; its size is added to `limits` under its id."""
    wanted: dict[str, list[tuple[PoolPlan, NodeGroupPlan]]] = {}
    for pool in plan.all_pools:
        for group in pool.node_groups:
            if group.capacity.reservation_id is not None:
                wanted.setdefault(group.capacity.reservation_id, []).append((pool, group))
    for identifier, users in sorted(wanted.items()):
        pool, group = users[0]
        path = f"pools.{pool.name}.capacity"
        question = f"does {identifier} hold what pool {pool.name} needs"
        try:
            answer = account.ask("ec2", "DescribeCapacityReservations", CapacityReservationIds=[identifier])
        except Refused as refused:
            if "NotFound" in refused.code:
                yield _result(
                    path,
                    question,
                    Verdict.FAIL,
                    "there is no such reservation in this account and region",
                    "check the id, the account and the region",
                )
            else:
                yield unknown_because(refused, probe="reservation", path=path, question=question)
            continue
        found = answer.get("CapacityReservations", [])
        if not found:
            yield _result(
                path,
                question,
                Verdict.FAIL,
                "there is no such reservation in this account and region",
                "check the id, the account and the region",
            )
            continue
        limits[identifier] = float(found[0].get("TotalInstanceCount", 0))
        needed = sum(min(other.max_instances, owner.max_nodes) for owner, other in users)
        yield from _judge(found[0], group, needed, path, question)


def _judge(found: dict[str, Any], group: NodeGroupPlan, needed: int, path: str, question: str) -> Iterator[ProbeResult]:
    total = int(found.get("TotalInstanceCount", 0))
    zone = str(found.get("AvailabilityZone", ""))
    state = str(found.get("State", ""))
    wrong: list[tuple[str, str]] = []
    if found.get("InstanceType") != group.instance_type:
        wrong.append(
            (f"it holds {found.get('InstanceType')}, not {group.instance_type}", "name one of the pool's type")
        )
    if zone and zone not in group.availability_zones:
        wrong.append(
            (f"it lives in {zone}, not in {', '.join(group.availability_zones)}", f"set `availability_zone: {zone}`")
        )
    if total < needed:
        wrong.append((f"it holds {total} instances, and {needed} are needed", f"lower the pools to {total} nodes"))
    if state not in ("active", "scheduled", "payment-pending", "assessing"):
        wrong.append((f"its state is {state}", "name one that is active, or set the pool to 0 nodes"))
    if str(found.get("Tenancy", "default")) != "default":
        wrong.append(
            (f"its tenancy is {found['Tenancy']}, and nodes run with default", "name one with default tenancy")
        )
    platform = str(found.get("InstancePlatform", "Linux/UNIX"))
    if platform != "Linux/UNIX":
        wrong.append((f"its platform is {platform}, and nodes run Linux/UNIX", "name one for Linux/UNIX"))
    is_block = found.get("ReservationType") == "capacity-block"
    if (group.capacity.mode == "capacity-block") != is_block and found.get("ReservationType"):
        kind = "a Capacity Block" if is_block else "an on-demand reservation"
        wrong.append((f"it is {kind}, and the mode is {group.capacity.mode}", "set the mode to what it is"))
    if wrong:
        for answer, fix in wrong:
            yield _result(path, question, Verdict.FAIL, answer, fix)
        return
    until = _day(found.get("EndDate"))
    yield _result(
        path,
        question,
        Verdict.PASS,
        f"{total} x {group.instance_type} in {zone}, {state}" + (f", until {until}" if until else ""),
        "",
    )


def _result(path: str, question: str, verdict: Verdict, answer: str, fix: str) -> ProbeResult:
    return ProbeResult(
        probe="reservation", path=path, question=question, verdict=verdict, answer=answer, fix=fix, action=ACTIONS[1]
    )


def _day(value: Any) -> str:
    return value.date().isoformat() if isinstance(value, datetime) else ""
