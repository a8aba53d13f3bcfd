"""GK7001: the stack costs more than its budget allows."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each cap that the known costs exceed."""
    totals, budget = context.plan.totals, context.plan.budget
    for what, cost, cap in (
        ("hour", totals.hourly_usd, budget.hourly_usd),
        ("month", totals.monthly_usd, budget.monthly_usd),
    ):
        if cost is not None and cap is not None and cost > cap:
            over = 100 * (cost / cap - 1) if cap else 100.0
            dearest = max(context.plan.costs, key=lambda line: (line.hourly_usd or 0.0, line.subject), default=None)
            yield tell(
                "GK7001",
                Severity.ERROR,
                f"budget.{what}ly_usd",
                problem=f"${cost:,.2f} {'an' if what == 'hour' else 'a'} {what}, {over:.0f} % above the cap of "
                f"${cap:,.2f}",
                fix=f"raise it, or use less of {dearest.subject} (${dearest.hourly_usd or 0:,.2f} an hour)"
                if dearest is not None
                else "raise it",
            )


RULE = Rule(
    code="GK7001",
    title="the stack costs more than its budget allows",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="the cap is there so that nobody finds out from the bill",
    source="prices.csv and instance_types.csv: list prices ; public report skypilot#8766",
)
