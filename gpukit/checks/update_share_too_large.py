"""GK2043: an update that takes away more nodes than EKS lets go at once."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each node group whose share of unavailable nodes is above the limit."""
    limit = context.catalog.limit("eks-mng-update").value
    for pool, group in context.node_groups():
        share = group.update.max_unavailable_pct
        if share is None or limit is None:
            continue
        away = group.max_instances * share // 100
        if away > limit:
            yield tell(
                "GK2043",
                Severity.ERROR,
                f"pools.{pool.name}.updates.max_unavailable_pct",
                problem=f"{share} % of {group.max_instances} nodes are {away}, and EKS takes {limit:g}",
                fix=f"use at most {int(100 * limit // group.max_instances)} %",
            )


RULE = Rule(
    code="GK2043",
    title="an update that takes away more nodes than EKS lets go at once",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="EKS takes at most 100 unavailable nodes during an update of a node group",
    source="limits.csv, eks-mng-update (botocore 1.44.8)",
)
