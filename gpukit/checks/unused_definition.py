"""GK1013: something is defined that nothing uses."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each image and cooling zone of the user's own file that no pool uses."""
    spec = context.spec
    gpu_pools = [pool for pool in spec.pools.values() if pool.role == "gpu"]
    images = {pool.image for pool in spec.pools.values()}
    if len(spec.images) == 1 and any(pool.image is None for pool in gpu_pools):
        # the only image is used by GPU pools that name none
        images |= set(spec.images)
    zones = {pool.cooling_zone for pool in spec.pools.values()}
    for section, names, used in (("images", spec.images, images), ("cooling_zones", spec.cooling_zones, zones)):
        for name in names:
            if name not in used and context.is_written_by_user(f"{section}.{name}"):
                yield tell(
                    "GK1013",
                    Severity.ERROR,
                    f"{section}.{name}",
                    problem=f"no pool uses `{name}`",
                    fix=f"name it in a pool (`{'image' if section == 'images' else 'cooling_zone'}: {name}`), "
                    "or remove it",
                )


RULE = Rule(
    code="GK1013",
    title="something is defined that nothing uses",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "a definition that nothing uses is usually a misspelt reference: the cluster then runs with a "
        "default instead of what was written"
    ),
    source="public report: cluster-toolkit, unused modules and variables are errors",
)
