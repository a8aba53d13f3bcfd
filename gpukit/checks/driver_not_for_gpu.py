"""GK5005: a driver that does not run this generation of GPU."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool whose image is asked to have a driver its GPU does not run on."""
    from gpukit.images.manifest import load_manifest

    stated = [
        (name, pool, context.spec.images[pool.image].driver)
        for name, pool in context.spec.pools.items()
        if pool.image in context.spec.images
    ]
    for name, pool, driver in stated:
        found = re.match(r"(\d+)", driver or "")
        if not found:
            continue
        branch = int(found.group(1))
        for model in dict.fromkeys(row.gpu_model for row in context.gpu_types(pool)):
            row = load_manifest().gpu(model)
            if row is None:
                continue
            least, most = row.driver_min_branch, row.driver_max_branch
            if (least and branch < int(least)) or (most and branch > int(most)):
                bounds = " and ".join(([f"{least} or later"] if least else []) + ([f"up to {most}"] if most else []))
                yield tell(
                    "GK5005",
                    Severity.ERROR,
                    f"images.{pool.image}.driver",
                    problem=f"driver {driver} does not run {model} (pool `{name}`): it needs {bounds}",
                    fix=f"use {least or most}, or leave `driver` out",
                    source=row.source,
                )


RULE = Rule(
    code="GK5005",
    title="a driver that does not run this generation of GPU",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "open kernel modules do not drive GPUs before Turing, and Blackwell runs on nothing else; the node "
        "is Ready and has no GPU"
    ),
    source=(
        "NVIDIA Driver Installation Guide, open kernel modules ; gpu_models.csv, column open_kernel_modules "
        "; image_manifest.csv"
    ),
)
