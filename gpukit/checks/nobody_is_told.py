"""GK7004: a budget that tells nobody."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where a monthly cap has nobody to tell."""
    budget = context.spec.budget
    if budget.monthly_usd is not None and not budget.notify:
        yield tell(
            "GK7004",
            Severity.WARNING,
            "budget.notify",
            problem="the monthly cap tells nobody",
            fix="add `notify: [team@example.com]`",
        )


RULE = Rule(
    code="GK7004",
    title="a budget that tells nobody",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="an alarm without an address is read by nobody",
    source='AWS Budgets User Guide, "Creating a budget": notifications',
)
