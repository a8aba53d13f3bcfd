"""GK4008: a root volume smaller than what goes onto it."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool whose root volume is smaller than its image needs."""
    plan = context.plan
    sizes = {image.name: image.gib for image in plan.images}
    for pool in plan.all_pools:
        needed = sizes.get(pool.image, 0)
        groups = [group for group in pool.node_groups if group.root_gib < needed]
        if groups:
            yield tell(
                "GK4008",
                Severity.ERROR,
                f"pools.{pool.name}.root_volume.gib",
                problem=f"{groups[0].root_gib} GiB, and the image `{pool.image}` needs {needed} GiB",
                fix=f"use at least {needed}, or leave it out",
            )


RULE = Rule(
    code="GK4008",
    title="a root volume smaller than what goes onto it",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "EC2 refuses a volume smaller than the image's snapshot, and a disk that fills up evicts every pod of the node"
    ),
    source="public rule ParallelCluster RootVolumeSizeValidator ; image manifest, column gib",
)
