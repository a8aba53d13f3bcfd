"""GK3002: address blocks that overlap, or of a size that a VPC does not take."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each block of a bad size, and one where the two overlap."""
    network = context.plan.network
    vpc = _block(network.cidr)
    pods = _block(network.pod_cidr)
    for path, block in (("network.cidr", vpc), ("network.pod_cidr", pods)):
        if block is not None and not 16 <= block.prefixlen <= 28:
            yield tell(
                "GK3002",
                Severity.ERROR,
                path,
                problem=f"{block} is a /{block.prefixlen}, and a VPC takes /16 to /28",
                fix="choose a block within these sizes",
            )
    if vpc is not None and pods is not None and vpc.overlaps(pods):
        yield tell(
            "GK3002",
            Severity.ERROR,
            "network.pod_cidr",
            problem=f"the pod block {pods} overlaps the VPC's {vpc}",
            fix="use another, such as 100.64.0.0/16",
        )


def _block(cidr: str | None) -> IPv4Network | None:
    return IPv4Network(cidr, strict=False) if cidr else None


RULE = Rule(
    code="GK3002",
    title="address blocks that overlap, or of a size that a VPC does not take",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="AWS refuses overlapping blocks, and a VPC block outside /16 to /28",
    source='VPC User Guide, "VPC CIDR blocks" ; limits.csv, subnet-max-size',
)
