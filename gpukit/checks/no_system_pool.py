"""GK1032: a cluster has no pool for system pods."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where an EKS cluster has no helper pool."""
    plan = context.plan
    if plan.kubernetes is not None and not plan.helper_pools:
        yield tell(
            "GK1032",
            Severity.WARNING,
            "pools",
            problem="all pools are GPU pools: nothing runs DNS and controllers",
            fix="add a pool such as `system: {role: system, instance_type: m7i.xlarge, nodes: 2}`",
        )


RULE = Rule(
    code="GK1032",
    title="a cluster has no pool for system pods",
    severity=Severity.WARNING,
    needs="plan",
    check=check,
    why=(
        "DNS, controllers and the scheduler's own pods need a node; on tainted GPU nodes they stay pending, "
        "or they take room that costs a hundred times as much"
    ),
    source='EKS Best Practices Guide, cluster services ; Kubernetes documentation, "Taints and Tolerations"',
)
