"""GK2026: shared GPUs in a pool for jobs over several nodes."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each EFA pool that shares its GPUs."""
    for pool in context.plan.pools:
        if not pool.efa:
            continue
        if pool.sharing.mig_profiles:
            yield tell(
                "GK2026",
                Severity.ERROR,
                f"pools.{pool.name}.sharing.mig",
                problem=f"the pool `{pool.name}` has EFA over {pool.max_nodes} nodes and splits its GPUs by MIG",
                fix="set `efa: false`, or make a pool of its own for MIG",
            )
        elif pool.sharing.time_slices > 1:
            yield tell(
                "GK2026",
                Severity.WARNING,
                f"pools.{pool.name}.sharing.time_slices",
                problem=f"the pool `{pool.name}` has EFA over {pool.max_nodes} nodes and shares each GPU "
                f"{pool.sharing.time_slices} times",
                fix="set `efa: false`, or make a pool of its own for shared GPUs",
            )


RULE = Rule(
    code="GK2026",
    title="shared GPUs in a pool for jobs over several nodes",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "MIG instances have no NVLink and no peer access, so a job over several nodes cannot use them; time "
        "slices make its ranks wait for each other"
    ),
    source="NVIDIA Multi-Instance GPU User Guide, limitations ; public report: nebius PR#261",
)
