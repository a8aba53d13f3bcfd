"""GK2041: the plan uses most of a limit."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each limit that is nearly reached."""
    from gpukit.checks.limit_paths import path_of_limit

    for line in context.plan.limits:
        if line.verdict == "warning":
            code = f" ({line.quota_code})" if line.quota_code else ""
            yield tell(
                "GK2041",
                Severity.WARNING,
                path_of_limit(line.id, context),
                problem=f"{line.what}: {line.used:,.6g} of {line.limit:,.6g} {line.unit}{code}, {line.pct:.0f} %",
                fix=line.how_to_raise or "use less of it",
                source=line.source,
            )


RULE = Rule(
    code="GK2041",
    title="the plan uses most of a limit",
    severity=Severity.WARNING,
    needs="plan",
    check=check,
    why="the limit counts everything of the account or VPC, and what else lives there is not in this plan",
    source="limits.csv",
)
