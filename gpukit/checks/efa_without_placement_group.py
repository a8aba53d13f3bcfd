"""GK2045: on-demand nodes with EFA and no placement group."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each on-demand EFA pool that asks for no placement group."""
    for name, pool in context.spec.pools.items():
        with_efa = pool.efa or (pool.efa is None and any(row.supports_efa for row in context.gpu_types(pool)))
        on_demand = any(source.mode == "on-demand" for source in pool.capacity)
        if pool.placement_group == "none" and with_efa and on_demand and pool.nodes.max > 1 and pool.role == "gpu":
            yield tell(
                "GK2045",
                Severity.WARNING,
                f"pools.{name}.placement_group",
                problem=f"{pool.nodes.max} on-demand nodes with EFA and `placement_group: none`",
                fix="remove it (a group of the pool's own is made), or accept this code with the reason",
            )


RULE = Rule(
    code="GK2045",
    title="on-demand nodes with EFA and no placement group",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why=(
        "without a cluster placement group the nodes may stand far apart, which costs latency in every "
        "collective; AWS recommends one and does not require it"
    ),
    source='limits.csv, efa-pg ; EC2 User Guide, "Elastic Fabric Adapter": cluster placement group',
)
