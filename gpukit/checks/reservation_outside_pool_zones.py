"""GK2002: a reservation lives in a zone that its pool leaves out."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each reservation outside the zones that its pool states."""
    for path, name, pool, _, reservation in context.reservations():
        zone = reservation.availability_zone
        if zone is None or not pool.zones:
            continue
        if _known_as(zone, context) not in {_known_as(item, context) for item in pool.zones}:
            yield tell(
                "GK2002",
                Severity.ERROR,
                f"{path}.availability_zone",
                problem=f"the reservation lives in {zone}, and the pool `{name}` is bound to {', '.join(pool.zones)}",
                fix=f"set `pools.{name}.zones: [{zone}]`, or leave `zones` out: the reservation decides",
            )


def _known_as(zone: str, context: CheckContext) -> str:
    """Return the zone id where the catalogue knows the zone, else the word itself."""
    from gpukit.catalog import UnknownName

    try:
        return context.catalog.zone(zone).id
    except UnknownName:
        return zone


RULE = Rule(
    code="GK2002",
    title="a reservation lives in a zone that its pool leaves out",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="an instance can use a reservation only in the zone where it lives",
    source=(
        'EC2 User Guide, "On-Demand Capacity Reservations and Capacity Blocks": Availability Zone ; '
        "public rule ParallelCluster CapacityReservationValidator"
    ),
)
