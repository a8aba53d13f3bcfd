"""GK1034: teams own more GPUs than the cluster has."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding where nominal quotas exceed the GPUs at full size."""
    queues = context.spec.queues
    if queues is None or not queues.teams:
        return
    owned = sum(team.gpus for team in queues.teams.values())
    there = sum(pool.max_nodes * pool.gpus_per_node for pool in context.plan.pools)
    if owned > there:
        yield tell(
            "GK1034",
            Severity.ERROR,
            "queues.teams",
            problem=f"teams own {owned:,} GPUs, and the pools have {there:,} at their largest",
            fix="lower the shares to what is there; `borrow_gpus` lets a team use what others leave idle",
        )


RULE = Rule(
    code="GK1034",
    title="teams own more GPUs than the cluster has",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "a share that cannot be met all at once is a promise broken on the day everybody uses it; borrowing "
        "is the honest way to oversubscribe"
    ),
    source='Kueue documentation, "ClusterQueue": nominal quota, borrowing and lending',
)
