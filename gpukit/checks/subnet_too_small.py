"""GK3001: a subnet has fewer addresses than its nodes need."""

from collections.abc import Iterator
from ipaddress import IPv4Network

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each subnet that is too small or has no room, and an unknown for existing ones."""
    network = context.plan.network
    taken: list[IPv4Network] = []
    for subnet in network.subnets:
        block = IPv4Network(subnet.cidr, strict=False) if subnet.cidr else None
        crowded = block is not None and any(other.overlaps(block) for other in taken)
        taken += [block] if block is not None else []
        if crowded:
            yield tell(
                "GK3001",
                Severity.ERROR,
                "network.cidr",
                problem=f"{network.cidr} has no room left for {subnet.name}: {subnet.needed_addresses:,} "
                "addresses are needed there",
                fix="use a larger block, such as 10.0.0.0/16",
            )
        elif subnet.usable_addresses is not None and subnet.needed_addresses > subnet.usable_addresses:
            prefix = 32
            while 2 ** (32 - prefix) - 5 < subnet.needed_addresses:
                prefix -= 1
            yield tell(
                "GK3001",
                Severity.ERROR,
                "network.cidr",
                problem=f"{subnet.name} has {subnet.usable_addresses:,} usable addresses, and "
                f"{subnet.needed_addresses:,} are needed",
                fix=f"give `network.cidr` room for a /{prefix}, or lower the nodes",
            )
        elif subnet.usable_addresses is None and subnet.needed_addresses > 0:
            yield tell(
                "GK3001",
                Severity.UNKNOWN,
                f"network.existing.subnets.{subnet.availability_zone}",
                problem=f"whether {subnet.existing_id} has {subnet.needed_addresses:,} free addresses is not known",
                fix="run `gpukit preflight`",
            )


RULE = Rule(
    code="GK3001",
    title="a subnet has fewer addresses than its nodes need",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="a node that gets no address never joins, and a subnet cannot grow",
    source=(
        'VPC User Guide, "Subnet CIDR blocks": AWS keeps 5 addresses ; public report nvidia-terraform- '
        "modules PR#17 ; limits.csv, subnet-reserved-ips"
    ),
)
