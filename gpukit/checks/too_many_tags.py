"""GK1025: a resource would carry more tags than AWS takes."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield one finding where a node group has more tags than the limit."""
    limit = context.limits.get("lt-tags", context.catalog.limit("lt-tags").value)
    most = max((len(group.tags) for _, group in context.node_groups()), default=len(context.plan.tags))
    if limit is not None and most > limit:
        own = len(context.spec.tags)
        yield tell(
            "GK1025",
            Severity.ERROR,
            "tags",
            problem=f"{most} tags on one resource ({own} of them your own); AWS takes {limit:g}",
            fix=f"remove at least {most - int(limit)} of your own",
        )


RULE = Rule(
    code="GK1025",
    title="a resource would carry more tags than AWS takes",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="AWS takes 50 tags a resource and refuses the call that brings more",
    source="limits.csv, eks-tags and lt-tags (botocore 1.44.8)",
)
