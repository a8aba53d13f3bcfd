"""GK3011: a VPC block made of public addresses."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_SHARED = IPv4Network("100.64.0.0/10")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each stated block that is not private."""
    network = context.spec.network
    for path, cidr in (("network.cidr", network.cidr), ("network.pod_cidr", network.pod_cidr)):
        if cidr is None:
            continue
        block = IPv4Network(cidr)
        if not block.is_private and not block.subnet_of(_SHARED):
            yield tell(
                "GK3011",
                Severity.WARNING,
                path,
                problem=f"{cidr} is not a private block",
                fix="use one of 10.0.0.0/8, 172.16.0.0/12, 192.168.0.0/16, 100.64.0.0/10",
            )


RULE = Rule(
    code="GK3011",
    title="a VPC block made of public addresses",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="hosts on the internet that really own these addresses can no longer be reached from the VPC",
    source='RFC 1918 ; RFC 6598 ; VPC User Guide, "VPC CIDR blocks"',
)
