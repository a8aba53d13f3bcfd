"""GK2004: pools that share a reservation want more than it holds."""

from collections import defaultdict
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each reservation whose pools want more than it is known to hold."""
    wants: dict[str, list[tuple[str, str, int, int]]] = defaultdict(list)
    for path, name, pool, _, reservation in context.reservations():
        if reservation.id is not None:
            wants[reservation.id].append((path, name, min(pool.nodes.max, reservation.nodes), reservation.nodes))
    for identifier, entries in sorted(wants.items()):
        known = context.limits.get(identifier)
        wanted = sum(take for _, _, take, _ in entries)
        if len(entries) < 2 and known is None:
            continue
        stated = max(nodes for _, _, _, nodes in entries)
        is_size_stated = any(nodes > take for _, _, take, nodes in entries)
        total = known if known is not None else stated if is_size_stated else None
        shares = " + ".join(f"{take} of `{name}`" for _, name, take, _ in entries)
        if total is not None and wanted > total:
            yield tell(
                "GK2004",
                Severity.ERROR,
                f"{entries[-1][0]}.nodes",
                problem=f"{identifier} holds {total:g} instances, and its pools want {wanted}: {shares}",
                fix=f"lower the pools by {wanted - int(total)} nodes together, or name another reservation",
            )
        elif total is None and wanted > stated:
            yield tell(
                "GK2004",
                Severity.UNKNOWN,
                f"{entries[-1][0]}.nodes",
                problem=f"whether {identifier} holds {wanted} instances is not known: {shares}",
                fix=f"state its size under `limits: {{{identifier}: {wanted}}}`, or run `gpukit preflight`",
            )


RULE = Rule(
    code="GK2004",
    title="pools that share a reservation want more than it holds",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="the first pools to scale take everything, and the last one waits for instances that do not exist",
    source="public rule ParallelCluster CapacityReservationSizeValidator: the sum over all pools counts",
)
