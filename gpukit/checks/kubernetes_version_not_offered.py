"""GK1029: a Kubernetes version that EKS does not support."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding where the stated version is unknown, out of support, or in extended support."""
    version = context.spec.kubernetes.version
    if version is None or context.spec.kind != "cluster":
        return
    from gpukit.catalog.kubernetes import load_eks_versions

    rows = {row.version: row for row in load_eks_versions()}
    path = "kubernetes.version"
    good = [row.version for row in rows.values() if row.support_on(context.today) == "standard"]
    fix = f"use one of: {', '.join(good)}"
    row = rows.get(version)
    if row is None:
        yield tell(
            "GK1029",
            Severity.ERROR,
            path,
            problem=f"Kubernetes `{version}` is not among the versions of EKS that are known",
            fix=fix,
        )
        return
    support = row.support_on(context.today)
    if support == "none":
        yield tell(
            "GK1029",
            Severity.ERROR,
            path,
            problem=f"support of Kubernetes {version} on EKS ended on {row.extended_support_ends}",
            fix=fix,
        )
    elif support == "extended":
        yield tell(
            "GK1029",
            Severity.WARNING,
            path,
            problem=f"Kubernetes {version} is in extended support since {row.standard_support_ends}, until "
            f"{row.extended_support_ends}",
            why="extended support costs more for each cluster hour, and ends with a forced upgrade",
            fix=fix,
        )


RULE = Rule(
    code="GK1029",
    title="a Kubernetes version that EKS does not support",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "EKS makes no cluster of a version that it does not know, and forces an upgrade on one whose support has ended"
    ),
    source='EKS User Guide, "Understand the Kubernetes version lifecycle on EKS" ; eks_versions.csv',
)
