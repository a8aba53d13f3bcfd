"""GK2042: whether the account's limit suffices is not known."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an unknown for each limit that the plan uses and whose value is not known."""
    from gpukit.checks.limit_paths import path_of_limit

    for line in context.plan.limits:
        # room in an existing subnet is a question of its own: GK3001
        if line.verdict != "unknown" or not line.used or line.id.startswith("subnet-addresses"):
            continue
        name = line.quota_code or line.id
        default = "no default is known" if line.limit is None else f"the default is {line.limit:,.6g}"
        raising = f"; {line.how_to_raise}" if line.how_to_raise else ""
        yield tell(
            "GK2042",
            Severity.UNKNOWN,
            path_of_limit(line.id, context),
            problem=f"{line.what}: {line.used:,.6g} {line.unit} are needed ({name}); {default}",
            fix=f"run `gpukit preflight`, or state it: `limits: {{{name}: N}}`{raising}",
            source=line.source,
        )


RULE = Rule(
    code="GK2042",
    title="whether the account's limit suffices is not known",
    severity=Severity.UNKNOWN,
    needs="plan",
    check=check,
    why=(
        "vCPU quotas differ by account (new ones start at zero for large GPU types, old ones have grown), "
        "and some limits are not published"
    ),
    source="limits.csv, area ec2-quota ; public reports aws-parallelcluster#1375 and skypilot#502",
)
