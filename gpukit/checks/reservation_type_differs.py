"""GK2001: a reservation holds another instance type than its pool asks for."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each reservation whose stated type its pool does not use."""
    for path, name, pool, _, reservation in context.reservations():
        wanted = [row.name for row in context.gpu_types(pool)] or [pool.instance_type or ""]
        stated = reservation.instance_type
        if stated is not None and stated not in wanted and wanted != [""]:
            yield tell(
                "GK2001",
                Severity.ERROR,
                f"{path}.instance_type",
                problem=f"the reservation holds {stated[:64]}, and the pool `{name}` asks for {' or '.join(wanted)}",
                fix=f"set `pools.{name}.instance_type: {stated[:64]}`, or name a reservation of {wanted[0]}",
            )


RULE = Rule(
    code="GK2001",
    title="a reservation holds another instance type than its pool asks for",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="EC2 launches into a reservation only instances of exactly its type; the pool would stay empty",
    source=(
        'EC2 User Guide, "Launch instances into an existing Capacity Reservation": matching attributes ; '
        "public rule ParallelCluster CapacityReservationValidator"
    ),
)
