"""GK3014: a retention that CloudWatch Logs does not take."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

VALID_DAYS = (
    1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
)  # fmt: skip


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each retention that is not one of the valid numbers."""
    spec = context.spec
    stated = [("kubernetes.log_days", spec.kubernetes.log_days), ("network.flow_log_days", spec.network.flow_log_days)]
    if spec.observability is not None:
        stated.append(("observability.logs_days", spec.observability.logs_days))
    for path, days in stated:
        if days not in VALID_DAYS:
            longer = next(valid for valid in VALID_DAYS if valid > days)
            yield tell(
                "GK3014",
                Severity.ERROR,
                path,
                problem=f"{days} days are no retention of CloudWatch Logs",
                fix=f"use {longer}, the next longer one",
            )


RULE = Rule(
    code="GK3014",
    title="a retention that CloudWatch Logs does not take",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="CloudWatch Logs takes certain numbers of days only and refuses the others",
    source="CloudWatch Logs API Reference, PutRetentionPolicy: valid values (botocore 1.44.8)",
)
