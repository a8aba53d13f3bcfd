"""GK6002: a cooling zone gets more heat than it can carry away."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_WARNING_PCT = 90.0
"""Less than this keeps room for fans, switches and a warm day."""


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each zone that is over or near its envelope, or whose heat is not known."""
    for zone in context.plan.cooling_zones:
        path = f"cooling_zones.{zone.name}.envelope_kw"
        if zone.envelope_kw is None or not zone.pools:
            continue
        if zone.it_kw is None or zone.used_pct is None:
            yield tell(
                "GK6002",
                Severity.UNKNOWN,
                path,
                problem=f"the power of the pools of `{zone.name}` is not known",
                fix="measure a node, and compare it with the envelope",
            )
        elif zone.used_pct > 100:
            per_node = zone.it_kw / max(zone.nodes, 1)
            yield tell(
                "GK6002",
                Severity.ERROR,
                path,
                problem=f"{zone.nodes} nodes give {zone.it_kw:,.1f} kW, and `{zone.name}` carries "
                f"{zone.envelope_kw:,.1f} kW",
                fix=f"lower the pools to {int(zone.envelope_kw // per_node)} nodes, or use a larger zone",
            )
        elif zone.used_pct >= _WARNING_PCT:
            yield tell(
                "GK6002",
                Severity.WARNING,
                path,
                problem=f"{zone.nodes} nodes give {zone.it_kw:,.1f} kW, {zone.used_pct:.0f} % of what "
                f"`{zone.name}` carries",
                fix="keep some room, or confirm the envelope with the operator of the hall",
            )


RULE = Rule(
    code="GK6002",
    title="a cooling zone gets more heat than it can carry away",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="servers throttle first and switch off then, all racks of the zone together",
    source="node_power.csv and server_power.csv: power of a node at full load",
)
