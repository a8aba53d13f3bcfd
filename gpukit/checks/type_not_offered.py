"""GK2021: an instance type in a zone that does not offer it."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool and zone that is not known to fit together."""
    catalog, region = context.catalog, context.plan.region
    if context.plan.kind == "existing-cluster":
        # its nodes are there already, in whatever hall
        return
    for pool in context.plan.pools:
        zones = dict.fromkeys(zone for group in pool.node_groups for zone in group.availability_zones)
        types = dict.fromkeys(name for group in pool.node_groups for name in group.instance_types)
        for name in types:
            offered = catalog.zones_offering(name, region)
            if not catalog.offerings_known(name):
                yield tell(
                    "GK2021",
                    Severity.UNKNOWN,
                    f"pools.{pool.name}.instance_type",
                    problem=f"where {name} is offered is not known",
                    fix="run `gpukit preflight`, or ask AWS",
                )
            elif not offered:
                regions = catalog.regions_offering(name)
                yield tell(
                    "GK2021",
                    Severity.ERROR,
                    f"pools.{pool.name}.instance_type",
                    problem=f"{region} does not offer {name}",
                    fix=f"use a region that does: {', '.join(regions[:8])}" if regions else "choose another type",
                )
            else:
                stated = context.spec.pools.get(pool.name)
                key = "zones" if stated is not None and stated.zones else "availability_zone"
                for zone in zones:
                    if zone not in offered:
                        yield tell(
                            "GK2021",
                            Severity.ERROR,
                            f"pools.{pool.name}.{key}",
                            problem=f"{zone} does not offer {name}",
                            fix=f"use {_with_ids(offered, context)}; zone names differ by account, zone ids do not",
                        )


def _with_ids(names: tuple[str, ...], context: CheckContext) -> str:
    return " or ".join(f"{name} ({context.catalog.zone(name).id})" for name in names)


RULE = Rule(
    code="GK2021",
    title="an instance type in a zone that does not offer it",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="the launch fails with `Unsupported`, in the middle of a deployment",
    source="instance_offerings.csv (DescribeInstanceTypeOfferings) ; public rule magic_castle az_check",
)
