"""GK3015: a range of ports that ends before it begins."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each inbound rule whose last port is below its first; ICMP has types, not a range."""
    for index, rule in enumerate(context.spec.network.ports):
        if rule.to_port is not None and rule.to_port < rule.port and rule.protocol != "icmp":
            yield tell(
                "GK3015",
                Severity.ERROR,
                f"network.ports[{index}].to_port",
                problem=f"the range begins at {rule.port} and ends at {rule.to_port}",
                fix=f"write `port: {rule.to_port}, to_port: {rule.port}`, or leave `to_port` out for one port",
            )


RULE = Rule(
    code="GK3015",
    title="a range of ports that ends before it begins",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="EC2 refuses the rule, after the network has been made",
    source="EC2 API Reference, IpPermission: FromPort and ToPort ; EC2 error InvalidParameterValue",
)
