"""GK7002: a price is not known."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity
from gpukit.plan import CostLine


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an unknown for each pool whose nodes have no price, and for each other subject of the bill without one."""
    groups = {group.name: (pool.name, group.instance_type) for pool, group in context.node_groups()}
    told: set[tuple[str, str]] = set()
    unpriced = {line.subject: line for line in context.plan.costs if line.hourly_usd is None}
    for subject, line in unpriced.items():
        kind, _, rest = subject.partition(" ")
        name = rest.partition(" ")[0]
        what, where = subject, f"storage.{name}" if kind == "storage" else "budget"
        if kind == "nodes":
            pool, instance_type = groups.get(name, (name, ""))
            if (pool, instance_type) in told:
                continue
            told.add((pool, instance_type))
            what, where = f"a node of `{pool}` ({instance_type})", f"pools.{pool}"
        yield tell(
            "GK7002",
            Severity.UNKNOWN,
            where,
            problem=f"what {what} costs in {context.plan.region} is not known",
            fix=_advice(line),
        )


def _advice(line: CostLine) -> str:
    if line.quantity is not None:
        return "look it up, and add it to a table of your own for the catalogue"
    if "backups" in line.subject:
        return "leave room for it in the budget: it follows from how much changes in a day"
    if "metadata" in line.subject:
        return "give the store a size that FSx sells; what the size includes follows from it"
    return "state `gib`, what you expect to be stored, or leave room for it in the budget"


RULE = Rule(
    code="GK7002",
    title="a price is not known",
    severity=Severity.UNKNOWN,
    needs="plan",
    check=check,
    why="the sums leave it out, so the true cost is higher and a cap cannot be judged",
    source="prices.csv, instance_types.csv, capacity_block_prices.csv",
)
