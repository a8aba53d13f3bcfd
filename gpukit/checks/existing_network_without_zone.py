"""GK3010: the existing VPC has no subnet in a zone that is needed."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each zone without subnet, and one where a cluster has fewer than two zones."""
    existing = context.spec.network.existing
    if existing is None:
        return
    there = set(existing.subnets)
    wanted: list[tuple[str, str]] = []
    for name, pool in context.spec.pools.items():
        wanted += [(f"pools.{name}.zones", zone) for zone in pool.zones or []]
    for path, _, _, _, reservation in context.reservations():
        if reservation.availability_zone is not None:
            wanted.append((f"{path}.availability_zone", reservation.availability_zone))
    for path, zone in wanted:
        if zone not in there:
            yield tell(
                "GK3010",
                Severity.ERROR,
                path,
                problem=f"`network.existing` names no subnet in {zone}; it has {', '.join(sorted(there)) or 'none'}",
                fix=f"add `{zone}: subnet-...` under `network.existing.subnets`",
            )
    if context.spec.kind == "cluster" and len(there) < 2:
        yield tell(
            "GK3010",
            Severity.ERROR,
            "network.existing.subnets",
            problem=f"{len(there)} zone is named, and the EKS control plane stands in two",
            fix="add a subnet of a second zone",
        )


RULE = Rule(
    code="GK3010",
    title="the existing VPC has no subnet in a zone that is needed",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="nodes stand in a subnet, and a subnet stands in one zone",
    source='VPC User Guide, "Subnets" ; EKS User Guide, "Amazon EKS networking requirements"',
)
