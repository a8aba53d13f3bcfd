"""GK3004: a port of the nodes is open to the whole internet."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_NEVER = {
    22: "SSH",
    2379: "etcd",
    3389: "RDP",
    6443: "the Kubernetes API",
    8265: "Ray",
    8888: "Jupyter",
    10250: "the kubelet",
}
_WIDEST_PREFIX = 16


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each inbound rule that lets in the world."""
    for index, rule in enumerate(context.spec.network.ports):
        block = IPv4Network(rule.cidr)
        if block.prefixlen >= _WIDEST_PREFIX or block.is_private:
            continue
        last = rule.to_port if rule.to_port is not None else rule.port
        named = [name for port, name in _NEVER.items() if rule.port <= port <= last]
        ports = str(rule.port) if last == rule.port else f"{rule.port}-{last}"
        yield tell(
            "GK3004",
            Severity.ERROR if named else Severity.WARNING,
            f"network.ports[{index}]",
            problem=f"{rule.protocol} {ports}"
            + (f" ({', '.join(named)})" if named else "")
            + f" is open to {rule.cidr}",
            fix="name the network that needs it; for shells and notebooks use a Session Manager port forward",
        )


RULE = Rule(
    code="GK3004",
    title="a port of the nodes is open to the whole internet",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="open SSH, notebook and kubelet ports are found within minutes, and a GPU node is worth the search",
    source=(
        'product rule: no public inbound port by default ; EC2 User Guide, "Security group rules": avoid 0.0.0.0/0'
    ),
)
