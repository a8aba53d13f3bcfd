"""GK6004: a cooling zone has fewer racks than its pools fill."""

from collections import defaultdict
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each zone whose rack-scale pools need more racks than it has."""
    servers = {server.name: server for server in context.catalog.ultraservers()}
    needed: dict[str, float] = defaultdict(float)
    for name, pool in context.spec.pools.items():
        server = servers.get(pool.ultraserver or "")
        planned = context.pool_plan(name)
        if server is not None and planned is not None and pool.cooling_zone is not None:
            needed[pool.cooling_zone] += planned.max_nodes / server.instances * server.racks
    for zone_name, racks in sorted(needed.items()):
        zone = context.spec.cooling_zones.get(zone_name)
        if zone is not None and zone.racks is not None and racks > zone.racks:
            yield tell(
                "GK6004",
                Severity.ERROR,
                f"cooling_zones.{zone_name}.racks",
                problem=f"{racks:g} racks of UltraServers in `{zone_name}`, which has {zone.racks}",
                fix=f"set `racks: {-int(-racks // 1)}` if the hall has them, or lower the pools",
            )


RULE = Rule(
    code="GK6004",
    title="a cooling zone has fewer racks than its pools fill",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="an UltraServer is a whole rack: the last ones would have no place",
    source="ultraservers.csv, column racks",
)
