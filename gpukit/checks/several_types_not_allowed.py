"""GK2028: several instance types where only one may be."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool that lists several types where its mode or EFA allows one."""
    for name, pool in context.spec.pools.items():
        rows = context.gpu_types(pool)
        if len(rows) < 2:
            continue
        path = f"pools.{name}.instance_types"
        fixed = [source.mode.value for source in pool.capacity if source.mode in ("reserved", "capacity-block")]
        if fixed or pool.efa:
            reason = f"`{fixed[0]}` capacity" if fixed else "EFA"
            yield tell(
                "GK2028",
                Severity.ERROR,
                path,
                problem=f"{len(rows)} types ({', '.join(row.name for row in rows)}) in a pool with {reason}",
                fix="keep one, and make a pool of its own for each other type",
            )
        elif len({row.architecture for row in rows}) > 1:
            yield tell(
                "GK2028",
                Severity.ERROR,
                path,
                problem="types of different processor architecture: "
                + ", ".join(f"{row.name} ({row.architecture})" for row in rows),
                fix="keep one architecture in a pool: one image serves all its nodes",
            )


RULE = Rule(
    code="GK2028",
    title="several instance types where only one may be",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "a reservation is of one type, and nodes of different types share no EFA fabric; the second type "
        "would never be used, or break the job"
    ),
    source="capacity_modes.csv ; limits.csv, cpg-launch and efa-mix",
)
