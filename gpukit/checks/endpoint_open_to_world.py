"""GK3003: the Kubernetes API is open to the whole internet."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_WIDEST_PREFIX = 16
"""A larger network than a /16 is no list of known offices."""


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each network that lets in the world."""
    for index, cidr in enumerate(context.spec.access.public_endpoint_cidrs):
        block = IPv4Network(cidr)
        if block.prefixlen < _WIDEST_PREFIX:
            yield tell(
                "GK3003",
                Severity.ERROR,
                f"access.public_endpoint_cidrs[{index}]",
                problem=f"{cidr} lets {block.num_addresses:,} addresses reach the Kubernetes API",
                fix="list the networks of your offices or VPN, or leave it out: the endpoint is then private",
            )


RULE = Rule(
    code="GK3003",
    title="the Kubernetes API is open to the whole internet",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="everybody may then try keys and known holes on the API server that rules the GPUs",
    source="EKS Best Practices Guide, security: cluster endpoint access",
)
