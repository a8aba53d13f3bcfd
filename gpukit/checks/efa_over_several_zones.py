"""GK2020: a pool with EFA stands in more than one zone."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each EFA pool with several stated zones, or with reservations in several zones."""
    for pool in context.plan.pools:
        stated = context.spec.pools.get(pool.name)
        if not pool.efa or stated is None:
            continue
        offering = context.catalog.zones_offering(pool.instance_type, context.plan.region)
        choose = f"use one of {', '.join(offering)}" if offering else "choose one zone"
        groups = {zone for group in pool.node_groups for zone in group.availability_zones}
        if stated.zones and len(set(stated.zones)) > 1:
            yield tell(
                "GK2020",
                Severity.ERROR,
                f"pools.{pool.name}.zones",
                problem=f"the EFA pool `{pool.name}` names {len(set(stated.zones))} zones: {', '.join(stated.zones)}",
                fix=f"{choose}, or set `efa: false`",
            )
        elif len(groups) > 1:
            yield tell(
                "GK2020",
                Severity.ERROR,
                f"pools.{pool.name}.capacity",
                problem=f"the capacity of the EFA pool `{pool.name}` lies in {', '.join(sorted(groups))}",
                fix="make one pool for each zone, or set `efa: false`",
            )


RULE = Rule(
    code="GK2020",
    title="a pool with EFA stands in more than one zone",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=("EFA traffic does not leave its zone: nodes in another zone cannot join the job, or it falls back to TCP"),
    source=(
        'EC2 User Guide, "Elastic Fabric Adapter": limitations ; public rule ParallelCluster '
        "EfaMultiAzValidator ; public report skypilot#10056"
    ),
)
