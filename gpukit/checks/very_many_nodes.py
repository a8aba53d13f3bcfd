"""GK2046: more nodes than an EKS cluster carries without talking to AWS."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_NODES_WITHOUT_TALKING = 1000


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where a cluster may grow beyond what EKS carries by itself."""
    if context.plan.kubernetes is None:
        return
    nodes = sum(pool.max_nodes for pool in context.plan.all_pools)
    if nodes > _NODES_WITHOUT_TALKING:
        yield tell(
            "GK2046",
            Severity.WARNING,
            "pools",
            problem=f"{nodes:,} nodes in one cluster; EKS carries about {_NODES_WITHOUT_TALKING:,} without arrangement",
            fix="talk to AWS before the day it starts, or split it into several clusters",
        )


RULE = Rule(
    code="GK2046",
    title="more nodes than an EKS cluster carries without talking to AWS",
    severity=Severity.WARNING,
    needs="plan",
    check=check,
    why=(
        "from about 1,000 nodes on, control plane, DNS and network plug-in need settings that AWS makes for "
        "the account, and growth in steps of under a tenth"
    ),
    source="limits.csv, eks-nodes ; EKS Best Practices Guide, scalability",
)
