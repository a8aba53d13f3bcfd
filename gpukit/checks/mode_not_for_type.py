"""GK2013: a capacity mode that the instance type is not sold in."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each source whose mode is not offered for a type of its pool."""
    for path, _, pool, source in context.sources():
        for row in context.gpu_types(pool):
            mode = source.mode.value
            if mode == "capacity-block":
                if row.capacity_block == "no":
                    yield tell(
                        "GK2013",
                        Severity.ERROR,
                        path,
                        problem=f"{row.name} is not sold in Capacity Blocks",
                        fix="use `mode: on-demand` or `reserved`, or a type that is sold in blocks, such as "
                        "p5en.48xlarge",
                    )
                elif row.capacity_block == "":
                    yield tell(
                        "GK2013",
                        Severity.UNKNOWN,
                        path,
                        problem=f"whether {row.name} is sold in Capacity Blocks is not known",
                        fix="ask AWS before buying",
                    )
            elif row.capacity_block == "only":
                yield tell(
                    "GK2013",
                    Severity.ERROR,
                    path,
                    problem=f"{row.name} is sold in Capacity Blocks only, and the mode is {mode}",
                    fix="use `mode: capacity-block`",
                )
            elif mode == "spot" and row.spot is False:
                yield tell(
                    "GK2013",
                    Severity.ERROR,
                    path,
                    problem=f"{row.name} is not sold as spot",
                    fix="use `mode: on-demand`, or another type",
                )


RULE = Rule(
    code="GK2013",
    title="a capacity mode that the instance type is not sold in",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="AWS does not sell this type that way, so no node ever starts",
    source=(
        'instance_types.csv, columns capacity_block and spot ; EC2 User Guide, "Capacity Blocks for ML": '
        "supported types"
    ),
)
