"""GK1028: a name built from the stack's names is longer than AWS takes."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_MAX_CHARACTERS = 63


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each node group, and each image that is built, whose resources would have too long a name."""
    plan = context.plan
    for pool, group in context.node_groups():
        name = f"{plan.name}-{plan.environment}-{group.name}"
        if len(name) > _MAX_CHARACTERS:
            yield tell(
                "GK1028",
                Severity.ERROR,
                f"pools.{pool.name}",
                problem=f"`{name}` has {len(name)} characters, and AWS takes {_MAX_CHARACTERS}",
                fix=f"shorten `name`, `environment` or the pool's name by {len(name) - _MAX_CHARACTERS} characters",
            )
    for image in plan.images:
        if image.build is not None and len(image.build.name) > _MAX_CHARACTERS:
            over = len(image.build.name) - _MAX_CHARACTERS
            yield tell(
                "GK1028",
                Severity.ERROR,
                f"images.{image.name}",
                problem=f"`{image.build.name}` has {over + _MAX_CHARACTERS} characters, and {_MAX_CHARACTERS} are free",
                fix=f"shorten `name`, `environment` or the image's name by {over} characters",
            )


RULE = Rule(
    code="GK1028",
    title="a name built from the stack's names is longer than AWS takes",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "EKS takes node group names of up to 63 characters and IAM roles of up to 64, and a name that is "
        "cut would collide with another"
    ),
    source=('EKS API Reference, CreateNodegroup ; IAM User Guide, "IAM and AWS STS quotas": name length limits'),
)
