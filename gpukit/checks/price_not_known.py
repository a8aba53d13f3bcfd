"""GK7002: a price is not known."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an unknown for each subject of the bill without a price."""
    pools = {group.name: pool.name for pool, group in context.node_groups()}
    for subject in dict.fromkeys(line.subject for line in context.plan.costs if line.hourly_usd is None):
        kind, _, rest = subject.partition(" ")
        name = rest.partition(" ")[0]
        where = {"nodes": f"pools.{pools.get(name, name)}", "storage": f"storage.{name}"}.get(kind, "budget")
        yield tell(
            "GK7002",
            Severity.UNKNOWN,
            where,
            problem=f"what {subject} costs in {context.plan.region} is not known",
            fix="look it up, and add it to a table of your own for the catalogue",
        )


RULE = Rule(
    code="GK7002",
    title="a price is not known",
    severity=Severity.UNKNOWN,
    needs="plan",
    check=check,
    why="the sums leave it out, so the true cost is higher and a cap cannot be judged",
    source="prices.csv, instance_types.csv, capacity_block_prices.csv",
)
