"""GK2014: spot nodes with EFA."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each spot pool that asks for EFA."""
    for path, name, pool, source in context.sources():
        if source.mode == "spot" and pool.efa:
            yield tell(
                "GK2014",
                Severity.WARNING,
                path,
                problem=f"the pool `{name}` asks for EFA over spot nodes",
                fix="use on-demand or reserved nodes for jobs over several nodes, or set `efa: false`",
            )


RULE = Rule(
    code="GK2014",
    title="spot nodes with EFA",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why=(
        "a job over many nodes ends with the first spot node that is taken back, and spot capacity rarely "
        "stands close together"
    ),
    source='EKS User Guide, "Managed node groups": spot ; capacity_modes.csv',
)
