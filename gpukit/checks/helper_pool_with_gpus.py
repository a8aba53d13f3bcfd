"""GK2048: a helper pool has GPUs."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an error for each helper pool whose type has GPUs; GK1018 tells the opposite."""
    for name, pool in context.spec.pools.items():
        types = [*filter(None, [pool.instance_type]), *pool.instance_types]
        gpu = [item for item in types if context.catalog.has_instance_type(item)]
        if pool.role != "gpu" and gpu:
            yield tell(
                "GK2048",
                Severity.ERROR,
                f"pools.{name}.role",
                problem=f"the role is `{pool.role.value}`, and {gpu[0]} has GPUs",
                fix="set `role: gpu`, or choose a type without GPUs such as m7i.2xlarge",
            )


RULE = Rule(
    code="GK2048",
    title="a helper pool has GPUs",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="GPU pools count, power and schedule GPUs; in a helper pool they would be paid and not shown",
    source="gpukit, PoolPlan",
)
