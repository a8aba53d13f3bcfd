"""GK7005: a temporary environment without an end."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_TEMPORARY = ("test", "demo", "tmp", "temp", "sandbox", "trial", "ci")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each temporary environment without an end date."""
    spec = context.spec
    if spec.lifecycle.end_date is None and (spec.environment in _TEMPORARY or spec.environment.startswith("pr-")):
        yield tell(
            "GK7005",
            Severity.WARNING,
            "lifecycle.end_date",
            problem=f"the environment `{spec.environment}` has no end date",
            fix="add `lifecycle: {end_date: YYYY-MM-DD}`",
        )


RULE = Rule(
    code="GK7005",
    title="a temporary environment without an end",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="environments for a test are forgotten, and GPUs bill on",
    source="product rule: 3 of 25 public cluster definitions state an end date ; public report dstack#3449",
)
