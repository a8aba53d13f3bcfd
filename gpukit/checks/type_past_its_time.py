"""GK2029: an instance type that is no longer, or not yet, sold."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each pool with a type that is not generally sold."""
    for name, pool in context.spec.pools.items():
        for row in context.gpu_types(pool):
            if row.status in ("legacy", "announced"):
                yield tell(
                    "GK2029",
                    Severity.WARNING,
                    f"pools.{name}.instance_type",
                    problem=f"{row.name} is "
                    f"{'of a retired generation' if row.status == 'legacy' else 'announced, not sold yet'}",
                    fix="`gpukit recommend` names what is sold today",
                )


RULE = Rule(
    code="GK2029",
    title="an instance type that is no longer, or not yet, sold",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="old types vanish from regions one by one, and announced ones cannot be launched",
    source="instance_types.csv, column status",
)
