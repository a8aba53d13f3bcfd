"""GK1037: a workstation is asked for more than one instance."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an error for each way in which a workstation is not one pool of one instance."""
    spec = context.spec
    if str(spec.kind) != "workstation":
        return
    if len(spec.pools) > 1:
        names = ", ".join(f"`{name}`" for name in sorted(spec.pools))
        yield tell(
            "GK1037",
            Severity.ERROR,
            "pools",
            problem=f"a workstation has {len(spec.pools)} pools: {names}",
            fix="keep one pool, or start from the preset multi-node",
        )
    for name, pool in spec.pools.items():
        if pool.nodes.min != 1 or pool.nodes.max != 1:
            size = str(pool.nodes.max) if pool.nodes.min == pool.nodes.max else f"{pool.nodes.min} to {pool.nodes.max}"
            yield tell(
                "GK1037",
                Severity.ERROR,
                f"pools.{name}.nodes",
                problem=f"a workstation has {size} nodes in `{name}`",
                fix="write `nodes: 1`, or start from the preset multi-node; `make down` takes the one instance away",
            )


RULE = Rule(
    code="GK1037",
    title="a workstation is not one instance",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="a workstation is one EC2 instance; more of them need a cluster, and would be counted and never made",
    source="gpukit, GpuWorkstation",
)
