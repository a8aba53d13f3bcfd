"""GK4015: local NVMe asked for on a type that has none."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool that uses local disks its type does not have."""
    for name, pool in context.spec.pools.items():
        if pool.local_nvme is None or pool.local_nvme.role == "none":
            continue
        path = f"pools.{name}.local_nvme"
        for row in context.gpu_types(pool):
            if row.local_nvme_count == 0:
                yield tell(
                    "GK4015",
                    Severity.ERROR,
                    path,
                    problem=f"{row.name} has no local disks",
                    fix="remove `local_nvme`, or use a type with disks",
                )
            elif row.local_nvme_count is None:
                yield tell(
                    "GK4015",
                    Severity.UNKNOWN,
                    path,
                    problem=f"whether {row.name} has local disks is not known",
                    fix="check it on a node",
                )
        if pool.instance_type is not None and context.catalog.has_helper_type(pool.instance_type):
            yield tell(
                "GK4015",
                Severity.ERROR,
                path,
                problem=f"{pool.instance_type} has no local disks",
                fix="remove `local_nvme`",
            )


RULE = Rule(
    code="GK4015",
    title="local NVMe asked for on a type that has none",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="the mount point would be a folder on the root volume, which fills up and evicts the node's pods",
    source="instance_types.csv, column local_nvme_count",
)
