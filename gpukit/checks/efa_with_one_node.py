"""GK2023: EFA asked for in a pool of one node."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each one-node pool that asks for EFA."""
    for name, pool in context.spec.pools.items():
        if pool.efa and pool.nodes.max == 1:
            yield tell(
                "GK2023",
                Severity.WARNING,
                f"pools.{name}.efa",
                problem=f"the pool `{name}` has one node, and EFA has nobody to talk to",
                fix="remove `efa: true`, or add nodes",
            )


RULE = Rule(
    code="GK2023",
    title="EFA asked for in a pool of one node",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="EFA carries traffic between nodes; with one node it only adds interfaces",
    source="public report: terraform-aws-eks README",
)
