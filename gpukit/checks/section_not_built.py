"""GK1015: a section is planned but not built by this version."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each section that the plan marks as not built."""
    for item in context.plan.not_built:
        yield tell(
            "GK1015",
            Severity.WARNING,
            item.section,
            problem=item.says,
            fix="keep it for the plan and the report, and set it up by other means",
        )


RULE = Rule(
    code="GK1015",
    title="a section is planned but not built by this version",
    severity=Severity.WARNING,
    needs="plan",
    check=check,
    why="it was read, checked and priced, and no resource of this version carries it out",
    source="docs/scope.md",
)
