"""GK3012: nodes have no way out of their network."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding where egress goes by NAT and there is no gateway."""
    network = context.spec.network
    if network.egress == "nat" and network.nat_gateways == 0 and network.existing is None:
        yield tell(
            "GK3012",
            Severity.ERROR,
            "network.nat_gateways",
            problem="egress goes by NAT, and there are 0 NAT gateways",
            fix="use `nat_gateways: 1`, or `egress: endpoints`",
        )


RULE = Rule(
    code="GK3012",
    title="nodes have no way out of their network",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "private nodes without a NAT gateway and without endpoints cannot pull images, reach the control "
        "plane or report"
    ),
    source='EKS User Guide, "Deploy private clusters with limited internet access"',
)
