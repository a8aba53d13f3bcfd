"""GK5007: packages of an image that nothing builds."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each image with packages and without build."""
    for name, image in context.spec.images.items():
        if image.packages and not image.build:
            listed = ", ".join(f"{package} {version}" for package, version in sorted(image.packages.items())[:3])
            more = f" and {len(image.packages) - 3} more" if len(image.packages) > 3 else ""
            yield tell(
                "GK5007",
                Severity.ERROR,
                f"images.{name}.packages",
                problem=f"nothing puts {listed}{more} into the image",
                fix=f"set `images.{name}.build: true`, or name a `container` that has them and remove `packages`",
            )


RULE = Rule(
    code="GK5007",
    title="packages of an image that nothing builds",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="a released AMI and a framework container hold what they hold; the job would fail at its first import",
    source='EC2 Image Builder User Guide, "How EC2 Image Builder works": software comes in by a recipe\'s components',
)
