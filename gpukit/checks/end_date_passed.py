"""GK7006: the stack's end date has passed."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where the end date lies behind."""
    end = context.spec.lifecycle.end_date
    if end is not None and end < context.today:
        yield tell(
            "GK7006",
            Severity.WARNING,
            "lifecycle.end_date",
            problem=f"the stack should have been gone since {end.isoformat()}",
            fix="run `pulumi destroy`, then `gpukit leaks`; or set a new date",
        )


RULE = Rule(
    code="GK7006",
    title="the stack's end date has passed",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="what should be gone by now still bills",
    source="product rule: lifecycle",
)
