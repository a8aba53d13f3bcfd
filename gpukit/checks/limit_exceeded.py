"""GK2040: the plan needs more than a limit allows."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_OWN_RULE = ("subnet-addresses", "lt-tags", "cb-instances", "userdata")
"""Limits with a rule of their own, which knows a better way out: GK3001, GK1025, GK2030, GK1031."""


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each limit that is exceeded."""
    from gpukit.checks.limit_paths import path_of_limit

    for line in context.plan.limits:
        if line.verdict == "error" and line.id.partition("/")[0] not in _OWN_RULE:
            code = f" ({line.quota_code})" if line.quota_code else ""
            yield tell(
                "GK2040",
                Severity.ERROR,
                path_of_limit(line.id, context),
                problem=f"{line.what}: {line.used:,.6g} of {line.limit:,.6g} {line.unit}{code}, {line.because}",
                fix=line.how_to_raise or "use less of it",
                source=line.source,
            )


RULE = Rule(
    code="GK2040",
    title="the plan needs more than a limit allows",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="AWS refuses what goes beyond, often on the day a paid block starts",
    source="limits.csv",
)
