"""GK5006: what an image holds is not known."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield an unknown for each GPU image pinned by id whose driver nobody stated."""
    used = {pool.image for pool in context.spec.pools.values() if pool.role == "gpu"}
    for name, image in context.spec.images.items():
        if name in used and image.ami_id is not None and image.driver is None:
            yield tell(
                "GK5006",
                Severity.UNKNOWN,
                f"images.{name}.ami_id",
                problem=f"which driver and EFA {image.ami_id} holds is not known",
                fix="state `driver:` and `efa_installer:` of the image, or use a release that gpukit knows",
            )


RULE = Rule(
    code="GK5006",
    title="what an image holds is not known",
    severity=Severity.UNKNOWN,
    needs="plan",
    check=check,
    why=(
        "driver, EFA and kernel must fit the GPU and each other; of a pinned AMI the stack file says nothing about them"
    ),
    source=("public reports parallelcluster#6015, #4324, #6653 ; aicr#531: a check that was skipped and yet passed"),
)
