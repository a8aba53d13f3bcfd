"""GK1030: a version that can change by itself."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_EXACT = re.compile(r"v?\d+(\.\d+)*([-.+_][0-9A-Za-z.+_-]+)?")
_MOVING = ("latest", "main", "master", "stable", "nightly", "edge", "dev")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each add-on, operator, package and image to pull whose version can move."""
    spec = context.spec
    stated = [(f"kubernetes.addons.{name}", version) for name, version in spec.kubernetes.addons.items()]
    stated += [(f"kubernetes.operators.{name}", version) for name, version in spec.kubernetes.operators.items()]
    for name, image in spec.images.items():
        stated += [(f"images.{name}.packages.{package}", version) for package, version in image.packages.items()]
    for path, version in stated:
        if not _EXACT.fullmatch(version):
            yield tell(
                "GK1030",
                Severity.ERROR,
                path,
                problem=f"`{version}` is not one exact version",
                fix="write the version that you tested, such as `1.18.5`",
            )
    for name, pool in spec.pools.items():
        for index, image_name in enumerate(pool.pre_pull):
            if is_floating(image_name):
                yield tell(
                    "GK1030",
                    Severity.ERROR,
                    f"pools.{name}.pre_pull[{index}]",
                    problem=f"`{image_name[:120]}` has no exact tag and no digest",
                    fix="add the digest (`@sha256:...`) or an exact version tag",
                )


def is_floating(image: str) -> bool:
    """Tell whether a container image can point to something else tomorrow: no digest, and no tag with a version."""
    name, at, digest = image.partition("@")
    if at and re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        return False
    tag = name.rpartition("/")[2].partition(":")[2]
    return not re.search(r"\d", tag) or any(word in tag.lower() for word in _MOVING)


RULE = Rule(
    code="GK1030",
    title="a version that can change by itself",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="a floating version installs something else tomorrow, and no preview shows it",
    source=(
        "public report aws-cdk#7273: a moving reference replaced every node with an empty diff ; public "
        "report pulumi-eks#88"
    ),
)
