"""GK3016: one subnet is named for several zones."""

from collections import defaultdict
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each zone whose subnet stands at an earlier zone already."""
    existing = context.spec.network.existing
    if existing is None:
        return
    zones: dict[str, list[str]] = defaultdict(list)
    for zone, subnet in existing.subnets.items():
        if zones[subnet]:
            yield tell(
                "GK3016",
                Severity.ERROR,
                f"network.existing.subnets.{zone}",
                problem=f"`{subnet}` is named for {zone} and for {zones[subnet][0]}",
                fix=f"name the subnet that stands in {zone}",
            )
        zones[subnet].append(zone)


RULE = Rule(
    code="GK3016",
    title="one subnet is named for several zones",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="a subnet stands in one zone: nodes start in another one than planned, and EKS asks for two subnets",
    source='VPC User Guide, "Subnets" ; EKS User Guide, "Amazon EKS networking requirements"',
)
