"""GK2010: a Capacity Block pool that is not of fixed size."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each Capacity Block pool with different bounds, unless it waits at zero for its block."""
    for name, pool in context.spec.pools.items():
        if pool.nodes.min >= pool.nodes.max or {source.mode.value for source in pool.capacity} != {"capacity-block"}:
            continue
        starts = [r.starts for source in pool.capacity for r in source.reservations if r.starts is not None]
        if pool.nodes.min == 0 and starts and max(starts) > context.today:
            continue
        yield tell(
            "GK2010",
            Severity.ERROR,
            f"pools.{name}.nodes",
            problem=f"min {pool.nodes.min} and max {pool.nodes.max} differ in a Capacity Block pool",
            fix=f"set `nodes: {pool.nodes.max}`; before the block opens `nodes: 0`, or `starts:` in the "
            "reservation, keeps it empty",
        )


RULE = Rule(
    code="GK2010",
    title="a Capacity Block pool that is not of fixed size",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "a block is paid for whole, from its first minute to its last; a pool that shrinks wastes it and "
        "one that grows finds nothing"
    ),
    source=(
        "public rule ParallelCluster ComputeResourceSizeValidator ; public reports aws-parallelcluster "
        "PR#5817 and PR#5833"
    ),
)
