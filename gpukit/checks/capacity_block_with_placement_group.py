"""GK2011: a placement group named for a Capacity Block."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each Capacity Block pool that names a placement group."""
    for name, pool in context.spec.pools.items():
        blocks = [source for source in pool.capacity if source.mode == "capacity-block"]
        if blocks and pool.placement_group not in (None, "auto", "none"):
            yield tell(
                "GK2011",
                Severity.ERROR,
                f"pools.{name}.placement_group",
                problem=f"`{(pool.placement_group or '')[:80]}` is named for a pool in a Capacity Block",
                fix="remove it",
            )
    for path, _, _, source, reservation in context.reservations():
        if source.mode == "capacity-block" and reservation.placement_group is not None:
            yield tell(
                "GK2011",
                Severity.ERROR,
                f"{path}.placement_group",
                problem=f"`{reservation.placement_group[:80]}` is named for a Capacity Block",
                fix="remove it",
            )


RULE = Rule(
    code="GK2011",
    title="a placement group named for a Capacity Block",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "AWS places the instances of a block close together by itself and refuses a launch that names a placement group"
    ),
    source="public rule ParallelCluster PlacementGroupCapacityTypeValidator ; capacity_modes.csv",
)
