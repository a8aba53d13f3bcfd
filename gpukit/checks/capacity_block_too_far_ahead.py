"""GK2032: a Capacity Block that cannot be bought yet."""

from collections.abc import Iterator
from datetime import timedelta

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each block without an id that starts beyond what AWS sells today."""
    weeks = int(context.catalog.capacity_block_rule("start-weeks-ahead").value)
    last = context.today + timedelta(weeks=weeks)
    for path, _, _, source, reservation in context.reservations():
        starts = reservation.starts
        if source.mode == "capacity-block" and reservation.id is None and starts is not None and starts > last:
            first_day = starts - timedelta(weeks=weeks)
            yield tell(
                "GK2032",
                Severity.WARNING,
                f"{path}.starts",
                problem=f"a block that starts on {starts.isoformat()} is on sale from {first_day.isoformat()} "
                "at the earliest",
                fix=f"look for an offer on {first_day.isoformat()}, or choose a start up to {last.isoformat()}",
            )


RULE = Rule(
    code="GK2032",
    title="a Capacity Block that cannot be bought yet",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="AWS sells blocks that start within eight weeks",
    source='limits.csv, cb-start ; EC2 User Guide, "Capacity Blocks for ML"',
)
