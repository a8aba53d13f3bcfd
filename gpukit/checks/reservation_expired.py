"""GK2006: a reservation has ended."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each reservation whose last day has passed."""
    for path, name, _, _, reservation in context.reservations():
        if reservation.ends is not None and reservation.ends < context.today:
            yield tell(
                "GK2006",
                Severity.WARNING,
                f"{path}.ends",
                problem=f"{reservation.id or 'the reservation'} of pool `{name}` ended on "
                f"{reservation.ends.isoformat()}",
                fix="name its successor, or set the pool to `nodes: 0` when its nodes may go",
            )


RULE = Rule(
    code="GK2006",
    title="a reservation has ended",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why=(
        "nothing launches into it any more; it may stay in the file so that nodes which still stand are not "
        "replaced by an edit elsewhere"
    ),
    source="public report aws-parallelcluster#6870: an expired reservation made unrelated updates fail",
)
