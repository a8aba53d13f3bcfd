"""GK6001: a liquid-cooled type in a zone without liquid."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each liquid-only pool whose cooling zone is missing or cools by air."""
    for name, pool in context.spec.pools.items():
        liquid = [row.name for row in context.gpu_types(pool) if row.liquid_only]
        if not liquid:
            continue
        path = f"pools.{name}.cooling_zone"
        if pool.cooling_zone is None:
            yield tell(
                "GK6001",
                Severity.ERROR,
                path,
                problem=f"{liquid[0]} is cooled by liquid only, and the pool names no cooling zone",
                fix="define one with `method: liquid` under `cooling_zones`, and name it here",
            )
            continue
        zone = context.spec.cooling_zones.get(pool.cooling_zone)
        if zone is not None and zone.method == "air":
            yield tell(
                "GK6001",
                Severity.ERROR,
                path,
                problem=f"{liquid[0]} is cooled by liquid only, and `{pool.cooling_zone}` cools by air",
                fix="name a zone whose method is liquid, hybrid or immersion",
            )


RULE = Rule(
    code="GK6001",
    title="a liquid-cooled type in a zone without liquid",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="rack-scale GPUs are built for liquid only: a zone that cools by air has no place to put them",
    source="gpu_models.csv and instance_types.csv, column liquid_only ; NVIDIA GB200 NVL72",
)
