"""GK3009: EFA without a security group that lets nodes talk to each other."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding where a pool has EFA and the network has no group for it."""
    plan = context.plan
    with_efa = [pool.name for pool in plan.pools if pool.efa]
    if with_efa and not plan.network.efa:
        yield tell(
            "GK3009",
            Severity.ERROR,
            "network",
            problem=f"the pool `{with_efa[0]}` has EFA, and no security group allows traffic to and from itself",
            fix="let gpukit make the network, or add such a group under `network.security_groups`",
        )


RULE = Rule(
    code="GK3009",
    title="EFA without a security group that lets nodes talk to each other",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "EFA traffic needs a group that allows everything to and from itself, in both directions; without "
        "it every job hangs at its first exchange"
    ),
    source=(
        'EC2 User Guide, "Elastic Fabric Adapter": security groups ; public rule ParallelCluster '
        "EfaSecurityGroupValidator"
    ),
)
