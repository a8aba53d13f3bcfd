"""GK7003: no budget is stated."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where neither cap is stated."""
    budget = context.spec.budget
    if context.spec.kind != "existing-cluster" and budget.hourly_usd is None and budget.monthly_usd is None:
        yield tell(
            "GK7003",
            Severity.WARNING,
            "budget",
            problem="neither `hourly_usd` nor `monthly_usd` is stated",
            fix="add `budget: {monthly_usd: N}`; `gpukit cost` shows what the plan costs",
        )


RULE = Rule(
    code="GK7003",
    title="no budget is stated",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="nothing stops a plan that costs ten times what was meant, and nobody is told when it does",
    source="public reports parallelcluster#3205 and skypilot#7837",
)
