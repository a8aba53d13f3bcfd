"""GK2022: EFA asked for on a type that has none."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool that asks for EFA on a type without it."""
    for name, pool in context.spec.pools.items():
        if not pool.efa:
            continue
        if pool.role != "gpu" or (pool.instance_type and context.catalog.has_helper_type(pool.instance_type)):
            yield tell(
                "GK2022",
                Severity.ERROR,
                f"pools.{name}.efa",
                problem=f"the helper pool `{name}` asks for EFA",
                fix="remove `efa: true`",
            )
            continue
        for row in context.gpu_types(pool):
            if row.max_efa_interfaces is None:
                yield tell(
                    "GK2022",
                    Severity.UNKNOWN,
                    f"pools.{name}.efa",
                    problem=f"whether {row.name} has EFA is not known",
                    fix="ask AWS before buying",
                )
            elif not row.supports_efa:
                near = [
                    other.name
                    for other in context.catalog.instance_types()
                    if other.gpu_model == row.gpu_model and other.supports_efa and other.status == "current"
                ]
                yield tell(
                    "GK2022",
                    Severity.ERROR,
                    f"pools.{name}.efa",
                    problem=f"{row.name} has no EFA",
                    fix=(f"use {' or '.join(near[:3])}, " if near else "use a type with EFA, such as p5en.48xlarge, ")
                    + "or set `efa: false`",
                )


RULE = Rule(
    code="GK2022",
    title="EFA asked for on a type that has none",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "EC2 refuses an EFA interface on such a type; without it a job over several nodes runs on TCP, "
        "about a hundred times slower"
    ),
    source=('EC2 User Guide, "Elastic Fabric Adapter": supported instance types ; public report skypilot#10055'),
)
