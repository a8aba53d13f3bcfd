"""GK2030: one Capacity Block for more instances than a block holds."""

from collections import defaultdict
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each block that would have to hold more instances than AWS sells in one."""
    limit = int(context.catalog.capacity_block_rule("max-instances-per-block").value)
    shared: dict[str, int] = defaultdict(int)
    for path, name, pool, source, reservation in context.reservations():
        if source.mode != "capacity-block":
            continue
        if reservation.nodes > limit:
            blocks = -(-reservation.nodes // limit)
            yield tell(
                "GK2030",
                Severity.ERROR,
                f"{path}.nodes",
                problem=f"one block of {reservation.nodes} instances for pool `{name}`; a block holds at most {limit}",
                fix=f"list {blocks} reservations of at most {limit} nodes each",
            )
        elif reservation.id is not None:
            shared[reservation.id] += min(reservation.nodes, pool.nodes.max)
            if shared[reservation.id] > limit:
                yield tell(
                    "GK2030",
                    Severity.ERROR,
                    f"{path}.nodes",
                    problem=f"pools take {shared[reservation.id]} instances from {reservation.id}; a block "
                    f"holds at most {limit}",
                    fix="give each pool a block of its own, or lower their nodes",
                )


RULE = Rule(
    code="GK2030",
    title="one Capacity Block for more instances than a block holds",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="AWS sells blocks of at most 64 instances; more nodes are several blocks, each its own node group",
    source='EC2 User Guide, "Capacity Blocks for ML" ; limits.csv, cb-instances (botocore 1.44.8)',
)
