"""GK3007: nodes with several network interfaces in a public subnet."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each multi-interface node group whose subnet is public."""
    roles = {subnet.name: subnet.role for subnet in context.plan.network.subnets}
    for pool, group in context.node_groups():
        public = [name for name in group.subnets if roles.get(name) == "public"]
        if len(group.network_interfaces) > 1 and public:
            yield tell(
                "GK3007",
                Severity.ERROR,
                f"pools.{pool.name}",
                problem=f"{group.name} has {len(group.network_interfaces)} interfaces a node and stands in the "
                f"public {public[0]}",
                fix="put it into a private subnet with a NAT gateway or endpoints",
            )


RULE = Rule(
    code="GK3007",
    title="nodes with several network interfaces in a public subnet",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "EC2 gives no public address to an instance with more than one interface, so such a node reaches "
        "nothing and never joins"
    ),
    source=(
        "EC2 API Reference, RunInstances: AssociatePublicIpAddress takes one interface only ; public report "
        "terraform-aws-eks#3533"
    ),
)
