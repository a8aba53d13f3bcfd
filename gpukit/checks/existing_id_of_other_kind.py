"""GK4007: an existing store whose id does not fit its kind."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_FORMS = {
    "lustre": (re.compile(r"fs-[0-9a-f]{8,17}"), "an id like `fs-0123456789abcdef0`"),
    "efs": (re.compile(r"fs-[0-9a-f]{8,17}"), "an id like `fs-0123456789abcdef0`"),
    "ebs": (re.compile(r"vol-[0-9a-f]{8,17}"), "an id like `vol-0123456789abcdef0`"),
    "s3": (
        re.compile(r"(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9](?!.*\.\.)[a-z0-9.-]{1,61}[a-z0-9]"),
        "a bucket name: 3 to 63 small letters, digits, dots and hyphens",
    ),
}


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each existing store whose id has another form than its kind has."""
    for name, store in context.spec.storage.items():
        if store.existing is None:
            continue
        path = f"storage.{name}.existing"
        if store.kind == "local-nvme":
            yield tell(
                "GK4007",
                Severity.ERROR,
                path,
                problem="local NVMe comes and goes with its instance",
                fix="remove `existing`",
            )
            continue
        form, words = _FORMS[store.kind.value]
        if not form.fullmatch(store.existing):
            yield tell(
                "GK4007", Severity.ERROR, path, problem=f"`{store.existing[:80]}` is not {words}", fix=f"use {words}"
            )


RULE = Rule(
    code="GK4007",
    title="an existing store whose id does not fit its kind",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="the mount fails on every node",
    source='FSx and EFS API References: file system ids ; S3 User Guide, "Bucket naming rules"',
)
