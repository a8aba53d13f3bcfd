"""GK1024: a tag's key or value is not one that AWS takes."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_ALLOWED = re.compile(r"[\w\s.:/=+\-@]*")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each tag that AWS would refuse."""
    for key, value in context.spec.tags.items():
        path = f"tags.{key[:80]}"
        if key.lower().startswith("aws:"):
            yield tell(
                "GK1024",
                Severity.ERROR,
                path,
                problem=f"the tag key `{key[:80]}` begins with `aws:`",
                fix="choose another prefix: AWS keeps that one for itself",
            )
        elif not key or len(key) > 128:
            yield tell(
                "GK1024",
                Severity.ERROR,
                path,
                problem=f"the tag key has {len(key)} characters, and AWS takes 1 to 128",
                fix="shorten it",
            )
        elif not _ALLOWED.fullmatch(key) or not _ALLOWED.fullmatch(value):
            yield tell(
                "GK1024",
                Severity.ERROR,
                path,
                problem=f"the tag `{key[:80]}: {value[:80]}` holds characters that AWS refuses",
                fix="use letters, digits, spaces and `_ . : / = + - @`",
            )


RULE = Rule(
    code="GK1024",
    title="a tag's key or value is not one that AWS takes",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="AWS refuses the whole call that makes the resource, in the middle of a deployment",
    source='EC2 User Guide, "Tag your Amazon EC2 resources": tag restrictions ; limits.csv, eks-tags',
)
