"""GK2009: the zone of a reservation is not stated."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an unknown for each named reservation whose zone nobody stated."""
    for path, name, pool, _, reservation in context.reservations():
        if reservation.id is not None and reservation.availability_zone is None and len(pool.zones or []) != 1:
            yield tell(
                "GK2009",
                Severity.UNKNOWN,
                path,
                problem=f"the zone of {reservation.id} is not stated, and pool `{name}` has to stand in it",
                fix="add `availability_zone:`; `gpukit preflight` reads it from the account",
            )


RULE = Rule(
    code="GK2009",
    title="the zone of a reservation is not stated",
    severity=Severity.UNKNOWN,
    needs="spec",
    check=check,
    why=("nodes, subnets and storage must stand where the reservation lives; a guess may place all of them elsewhere"),
    source='EC2 User Guide, "Capacity Reservations": a reservation lives in one zone',
)
