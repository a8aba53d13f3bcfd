"""GK6003: a pool stands outside the availability zone of its cooling zone."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool with node groups outside its cooling zone's availability zone."""
    for pool in context.plan.all_pools:
        zone = context.spec.cooling_zones.get(pool.cooling_zone or "")
        if zone is None or zone.availability_zone is None:
            continue
        home = _name_of(zone.availability_zone, context)
        outside = sorted({z for group in pool.node_groups for z in group.availability_zones if z != home})
        if outside:
            yield tell(
                "GK6003",
                Severity.ERROR,
                f"pools.{pool.name}.cooling_zone",
                problem=f"`{pool.cooling_zone}` is in {home}, and the pool stands in {', '.join(outside)}",
                fix=f"set `pools.{pool.name}.zones: [{home}]`, or name a cooling zone of {outside[0]}",
            )


def _name_of(zone: str, context: CheckContext) -> str:
    from gpukit.catalog import UnknownName

    try:
        return context.catalog.zone(zone).name
    except UnknownName:
        return zone


RULE = Rule(
    code="GK6003",
    title="a pool stands outside the availability zone of its cooling zone",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "a cooling zone is one place; nodes in another availability zone are cooled by something else, and "
        "the numbers of both are wrong"
    ),
    source="product rule: a node group never spans cooling zones",
)
