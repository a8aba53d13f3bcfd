"""GK1027: a pool's fewest nodes are more than its most."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool whose bounds are the wrong way round."""
    for name, pool in context.spec.pools.items():
        if pool.nodes.min > pool.nodes.max:
            yield tell(
                "GK1027",
                Severity.ERROR,
                f"pools.{name}.nodes",
                problem=f"min {pool.nodes.min} is above max {pool.nodes.max}",
                fix=f"write `nodes: {{min: {pool.nodes.max}, max: {pool.nodes.min}}}`",
            )


RULE = Rule(
    code="GK1027",
    title="a pool's fewest nodes are more than its most",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="EKS refuses a node group whose minimum is above its maximum",
    source="EKS API Reference, NodegroupScalingConfig (botocore 1.44.8)",
)
