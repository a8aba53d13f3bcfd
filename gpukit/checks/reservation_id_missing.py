"""GK2008: reserved capacity without the id of a reservation."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each reserved source that cannot be launched into yet; an error only when deploying."""
    severity = Severity.ERROR if context.deploying else Severity.WARNING
    for path, name, pool, source in context.sources():
        if source.mode not in ("reserved", "capacity-block") or pool.nodes.max == 0:
            continue
        if not source.reservations and source.reservation_group_arn is None:
            yield tell(
                "GK2008",
                severity,
                path,
                problem=f"the pool `{name}` uses `{source.mode.value}` and names no reservation",
                fix="add `reservations: [{id: cr-..., nodes: N, availability_zone: ...}]` once it is bought",
            )
        for index, reservation in enumerate(source.reservations):
            opens_later = reservation.starts is not None and reservation.starts > context.today
            if reservation.id is None and source.reservation_group_arn is None:
                yield tell(
                    "GK2008",
                    # a block that opens later keeps its pool at zero, so nothing is launched without the id
                    Severity.WARNING if opens_later else severity,
                    f"{path}.reservations[{index}]",
                    problem=f"the reservation of {reservation.nodes} nodes for pool `{name}` has no `id`",
                    fix="add `id: cr-...` once it is bought",
                )


RULE = Rule(
    code="GK2008",
    title="reserved capacity without the id of a reservation",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="the launch template must name the reservation; without an id nothing can be launched into it",
    source=(
        "EKS API Reference: CAPACITY_BLOCK needs the reservation's id in the launch template (botocore "
        "1.44.8) ; limits.csv, eks-capacity-type"
    ),
)
