"""GK1031: boot hooks are larger than user data may be."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_RESERVED_BYTES = 4096
"""Kept for the node configuration of EKS and gpukit's own start script; the rendered parts measure 2 to 3 KiB."""


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each pool whose hooks do not fit."""
    limit = context.catalog.limit("userdata").value
    for pool in context.plan.all_pools:
        size = sum(len(hook.content.encode()) for hook in pool.boot)
        if limit is not None and size > limit - _RESERVED_BYTES:
            yield tell(
                "GK1031",
                Severity.ERROR,
                f"pools.{pool.name}.boot",
                problem=f"the boot hooks have {size:,} bytes; {limit:,.0f} less {_RESERVED_BYTES:,} of EKS and "
                "gpukit are free",
                fix="put the bulk into the image or a bucket, and let the hook fetch and check it",
            )


RULE = Rule(
    code="GK1031",
    title="boot hooks are larger than user data may be",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="EC2 takes 16,384 bytes of user data before base64, and EKS and gpukit need a part of them",
    source='limits.csv, userdata (botocore 1.44.8) ; EC2 User Guide, "Run commands at launch": 16 KB limit',
)
