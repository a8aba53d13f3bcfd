"""GK2005: a pool's capacity sources give fewer nodes than it may grow to."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool whose sources do not add up to its largest size."""
    for name, pool in context.spec.pools.items():
        given = 0
        for source in pool.capacity:
            if source.reservations and source.mode in ("reserved", "capacity-block"):
                given += sum(reservation.nodes for reservation in source.reservations)
            elif source.nodes is not None:
                given += source.nodes
            else:
                break
        else:
            if given < pool.nodes.max:
                yield tell(
                    "GK2005",
                    Severity.ERROR,
                    f"pools.{name}.nodes",
                    problem=f"the pool may have {pool.nodes.max} nodes, and its capacity sources give {given}",
                    fix=f"set `nodes: {given}`, or add a source for the other {pool.nodes.max - given}",
                )


RULE = Rule(
    code="GK2005",
    title="a pool's capacity sources give fewer nodes than it may grow to",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=("nodes beyond the last source have nowhere to come from, and nothing may fall back to on-demand unasked"),
    source="public rule ParallelCluster CapacityReservationSizeValidator ; public report eksctl#7949",
)
