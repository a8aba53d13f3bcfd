"""GK2027: an update that needs more instances than are reserved."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool of fixed capacity whose update would start instances beyond it."""
    for pool in context.plan.all_pools:
        fixed = [group for group in pool.node_groups if group.capacity.mode in ("reserved", "capacity-block")]
        if not fixed:
            continue
        if any(group.update.strategy == "blue-green" for group in fixed):
            count = sum(group.max_instances for group in fixed)
            yield tell(
                "GK2027",
                Severity.ERROR,
                f"pools.{pool.name}.updates.strategy",
                problem=f"blue-green needs {count} more instances than the {count} that are reserved",
                fix="use `rolling` or `replace-one-by-one`",
            )
        elif any(group.update.surge for group in fixed):
            yield tell(
                "GK2027",
                Severity.ERROR,
                f"pools.{pool.name}.updates",
                problem=f"the update starts {max(group.update.surge for group in fixed)} node(s) beyond the "
                "reserved ones",
                fix="use `replace-one-by-one`",
            )


RULE = Rule(
    code="GK2027",
    title="an update that needs more instances than are reserved",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="new nodes start before old ones end, and a reservation or Capacity Block holds none to start",
    source="public reports nebius PR#1091 and karpenter#2409 ; capacity_modes.csv",
)
