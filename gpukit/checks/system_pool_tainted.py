"""GK1033: every system pool repels the pods it is for."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each system pool where all of them are tainted."""
    system = {name: pool for name, pool in context.spec.pools.items() if pool.role == "system"}
    tainted = {
        name
        for name, pool in system.items()
        if any(taint.effect in ("NoSchedule", "NoExecute") for taint in pool.taints or [])
    }
    if system and len(tainted) == len(system):
        for name in sorted(tainted):
            yield tell(
                "GK1033",
                Severity.ERROR,
                f"pools.{name}.taints",
                problem=f"the system pool `{name}` is tainted, and no other takes system pods",
                fix="remove the taint, or use `PreferNoSchedule`",
            )


RULE = Rule(
    code="GK1033",
    title="every system pool repels the pods it is for",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=("add-ons such as DNS tolerate no taint of your own, so they never start and no node works without them"),
    source='Kubernetes documentation, "Taints and Tolerations" ; EKS User Guide, "Amazon EKS add-ons"',
)
