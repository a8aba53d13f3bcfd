"""GK2042: whether the account's limit suffices is not known."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an unknown for each vCPU quota that the plan needs and nobody stated."""
    from gpukit.checks.limit_paths import path_of_limit

    for line in context.plan.limits:
        if line.verdict == "unknown" and line.id.startswith("vcpu-") and line.used:
            default = "no default is known" if line.limit is None else f"the default is {line.limit:,.0f}"
            yield tell(
                "GK2042",
                Severity.UNKNOWN,
                path_of_limit(line.id, context),
                problem=f"{line.what}: {line.used:,.0f} vCPUs are needed ({line.quota_code}); {default}",
                fix=f"run `gpukit preflight`, or state it: `limits: {{{line.quota_code}: N}}`; {line.how_to_raise}",
                source=line.source,
            )


RULE = Rule(
    code="GK2042",
    title="whether the account's limit suffices is not known",
    severity=Severity.UNKNOWN,
    needs="plan",
    check=check,
    why="vCPU quotas differ by account: new ones start at zero for large GPU types, old ones have grown",
    source="limits.csv, area ec2-quota ; public reports aws-parallelcluster#1375 and skypilot#502",
)
