"""GK2047: a pool's capacity sources give more nodes than it may grow to."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

if TYPE_CHECKING:
    from gpukit.spec.model import PoolSpec

_PAID = ("reserved", "capacity-block")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Take:
    """What a pool takes of nodes that are paid for whether they are used or not."""

    key: str
    held: int
    used: int


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool that leaves paid nodes idle, unless other pools use what it leaves."""
    takes = {name: list(_takes(name, pool, context)) for name, pool in context.spec.pools.items()}
    held: dict[str, int] = defaultdict(int)
    used: dict[str, int] = defaultdict(int)
    for take in (take for several in takes.values() for take in several):
        held[take.key] = max(held[take.key], take.held)
        used[take.key] += take.used
    told: set[str] = set()
    for name, several in takes.items():
        idle = 0
        for take in several:
            if take.used < take.held and take.key not in told:
                left = max(0, held[take.key] - used[take.key])
                idle += left
                told |= {take.key} if left else set()
        if idle:
            largest = context.spec.pools[name].nodes.max
            given = sum(take.held for take in several)
            yield tell(
                "GK2047",
                Severity.WARNING,
                f"pools.{name}.nodes",
                problem=f"its reservations and blocks hold {given} nodes, and the pool has {largest} at most: "
                f"{idle} are paid for and not used",
                fix=f"raise `nodes` by {idle}, or buy {idle} fewer",
            )


def _takes(name: str, pool: "PoolSpec", context: CheckContext) -> Iterator[_Take]:
    left = pool.nodes.max
    for number, source in enumerate(pool.capacity):
        if source.mode not in _PAID:
            left -= min(left, source.nodes if source.nodes is not None else left)
            continue
        if not source.reservations:
            nodes = source.nodes or 0
            yield _Take(key=f"{name}/{number}", held=nodes, used=min(left, nodes))
            left -= min(left, nodes)
        for index, item in enumerate(source.reservations):
            took = min(left, item.nodes)
            left -= took
            over = item.ends is not None and item.ends < context.today
            # a pool may stand at 0 until its block opens
            waits = pool.nodes.max == 0 and item.starts is not None and item.starts > context.today
            if not over and not waits:
                yield _Take(key=item.id or f"{name}/{number}/{index}", held=item.nodes, used=took)


RULE = Rule(
    code="GK2047",
    title="a pool's capacity sources give more nodes than it may grow to",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="a Capacity Block is paid in full when it is bought, and a reservation bills each hour, used or not",
    source='EC2 User Guide, "Capacity Blocks for ML: pricing and billing" and "On-Demand Capacity Reservations"',
)
