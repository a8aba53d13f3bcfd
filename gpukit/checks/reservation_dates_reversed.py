"""GK2007: a reservation ends before it starts."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each reservation whose days are the wrong way round."""
    for path, _, _, _, reservation in context.reservations():
        starts, ends = reservation.starts, reservation.ends
        if starts is not None and ends is not None and ends <= starts:
            yield tell(
                "GK2007",
                Severity.ERROR,
                f"{path}.ends",
                problem=f"it ends on {ends.isoformat()} and starts on {starts.isoformat()}",
                fix="correct the two days",
            )


RULE = Rule(
    code="GK2007",
    title="a reservation ends before it starts",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="one of the two days is wrong, and the pool would open or close on it",
    source="EC2 API Reference, CreateCapacityReservation and CapacityBlockOffering",
)
