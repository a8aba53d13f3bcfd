"""GK2012: a reservation and its pool name different placement groups."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each reservation whose placement group is not the one that its pool names."""
    for path, name, pool, source, reservation in context.reservations():
        named = pool.placement_group
        if source.mode != "reserved" or named in (None, "auto", "none") or named == reservation.placement_group:
            continue
        held = reservation.placement_group
        yield tell(
            "GK2012",
            Severity.ERROR,
            f"pools.{name}.placement_group",
            problem=f"the pool names `{(named or '')[:80]}`, and {reservation.id or path} was made "
            + (f"in `{held[:80]}`" if held else "in no placement group"),
            fix="leave `placement_group` out: the reservation's own is used",
        )


RULE = Rule(
    code="GK2012",
    title="a reservation and its pool name different placement groups",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "a reservation made in a placement group takes only instances launched into the same group; one "
        "made outside takes none that name a group"
    ),
    source=(
        "public rule ParallelCluster PlacementGroupCapacityReservationValidator ; public reports aws- "
        "parallelcluster#4215 and eksctl#7949"
    ),
)
