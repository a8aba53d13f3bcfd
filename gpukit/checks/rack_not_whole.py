"""GK2024: an UltraServer pool that is not a whole number of racks."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each rack-scale pool or block that is not whole racks."""
    servers = {server.name: server for server in context.catalog.ultraservers()}
    for name, pool in context.spec.pools.items():
        server = servers.get(pool.ultraserver or "")
        if server is None:
            for row in context.gpu_types(pool):
                made = context.catalog.ultraserver_of(row.name)
                if row.ultraserver_only and pool.ultraserver is None and made is not None:
                    yield tell(
                        "GK2024",
                        Severity.ERROR,
                        f"pools.{name}.instance_type",
                        problem=f"{row.name} is sold only as a part of an UltraServer",
                        fix=f"set `ultraserver: {made.name}` and `nodes` to a multiple of {made.instances}",
                    )
            continue
        if pool.instance_type not in (None, server.instance_type):
            yield tell(
                "GK2024",
                Severity.ERROR,
                f"pools.{name}.instance_type",
                problem=f"{server.name} is made of {server.instance_type}, not of {(pool.instance_type or '')[:64]}",
                fix="remove `instance_type`: the UltraServer decides it",
            )
        for bound in {pool.nodes.min, pool.nodes.max}:
            if bound % server.instances:
                racks = -(-bound // server.instances)
                yield tell(
                    "GK2024",
                    Severity.ERROR,
                    f"pools.{name}.nodes",
                    problem=f"{bound} nodes are no whole number of {server.name} (each {server.instances} instances)",
                    fix=f"use {racks * server.instances} nodes, which are {racks} racks",
                )
        for source in pool.capacity:
            for reservation in source.reservations:
                if reservation.nodes != server.instances:
                    yield tell(
                        "GK2024",
                        Severity.ERROR,
                        f"pools.{name}.capacity",
                        problem=f"a block of {reservation.nodes} instances; one {server.name} is one block of "
                        f"{server.instances}",
                        fix=f"list one reservation of {server.instances} nodes for each rack",
                    )


RULE = Rule(
    code="GK2024",
    title="an UltraServer pool that is not a whole number of racks",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="an UltraServer is one Capacity Block and one NVLink domain: it is sold, started and ended whole",
    source="limits.csv, cb-ultra ; ultraservers.csv",
)
