"""GK5004: an image of another processor architecture than the nodes."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_WORDS = {
    "arm64": re.compile(r"arm64|aarch64", re.IGNORECASE),
    "x86_64": re.compile(r"x86_64|x86-64|amd64", re.IGNORECASE),
}


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool whose image is for other processors."""
    plan = context.plan
    images = {image.name: image for image in plan.images}
    for pool in plan.all_pools:
        image = images.get(pool.image)
        if image is None:
            continue
        named = context.spec.pools[pool.name].image if pool.name in context.spec.pools else None
        path = f"images.{named}" if named in context.spec.images else f"pools.{pool.name}.image"
        other = "arm64" if pool.architecture == "x86_64" else "x86_64"
        contradicts = any(
            _WORDS[other].search(text) and not _WORDS[pool.architecture].search(text)
            for text in (image.ami_name, image.container, image.ami_type)
            if text
        )
        if image.architecture != pool.architecture or contradicts:
            yield tell(
                "GK5004",
                Severity.ERROR,
                path,
                problem=f"`{pool.image}` is for {other}, and {pool.instance_type} is {pool.architecture}",
                fix=f"use an image for {pool.architecture}",
            )


RULE = Rule(
    code="GK5004",
    title="an image of another processor architecture than the nodes",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="the image does not boot, or its container fails with `exec format error`",
    source="public rule ParallelCluster AmiOsCompatibleValidator ; instance_types.csv, column architecture",
)
