"""GK3006: a container image that a closed network cannot reach."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_PRIVATE_ECR = re.compile(r"\d{12}\.dkr\.ecr(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?/.+")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each image that has to come over the internet into a closed network."""
    network = context.plan.network
    if network.egress != "endpoints" or network.existing_vpc_id is not None:
        return
    asked = [
        (f"images.{name}.container", image.container) for name, image in context.spec.images.items() if image.container
    ]
    for name, pool in context.spec.pools.items():
        asked += [(f"pools.{name}.pre_pull[{index}]", image) for index, image in enumerate(pool.pre_pull)]
    fix = "copy it into ECR (a pull-through cache does it by itself), or use `egress: nat`"
    for path, image_name in asked:
        if not _PRIVATE_ECR.fullmatch(image_name):
            yield tell(
                "GK3006", Severity.ERROR, path, problem=f"`{image_name[:120]}` is outside the closed network", fix=fix
            )
    stated = {image_name for _, image_name in asked}
    for image in context.plan.images:
        if image.container and image.container not in stated and not _PRIVATE_ECR.fullmatch(image.container):
            yield tell(
                "GK3006",
                Severity.WARNING,
                f"images.{image.name}",
                problem=f"the container that gpukit chose, `{image.container[:120]}`, is outside the closed network",
                fix=f"{fix}; then name your copy under `images.{image.name}.container`",
            )


RULE = Rule(
    code="GK3006",
    title="a container image that a closed network cannot reach",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=("endpoints reach ECR in your own account only; a pull from a public registry hangs, and the pods with it"),
    source='EKS User Guide, "Deploy private clusters with limited internet access": images must be in ECR',
)
