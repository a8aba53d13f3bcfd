"""GK1036: a limit of your own has a name that nothing has."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_RESERVATION = re.compile(r"cr-[0-9a-f]{8,17}")
_VOLUMES = re.compile(r"ebs-(gp2|gp3|io1|io2|st1|sc1)-storage")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each key of `limits:` that is no limit id, quota code or reservation id."""
    if not context.spec.limits:
        return
    from gpukit.nearest import nearest

    rows = context.catalog.limits()
    known = {row.id for row in rows} | {row.quota_code for row in rows if row.quota_code}
    for name in context.spec.limits:
        limit_id = name.partition("/")[0]
        if name in known or limit_id in known or _RESERVATION.fullmatch(name) or _VOLUMES.fullmatch(name):
            continue
        if limit_id == "subnet-addresses" or re.fullmatch(r"vcpu-L-[0-9A-F]{8}", name):
            continue
        near = nearest(name, known)
        yield tell(
            "GK1036",
            Severity.ERROR,
            f"limits.{name[:80]}",
            problem=f"no limit is called `{name[:80]}`",
            fix=f"did you mean `{near[0]}`?" if near else "see `gpukit plan --limits` for the ids and quota codes",
        )


RULE = Rule(
    code="GK1036",
    title="a limit of your own has a name that nothing has",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="the value would be ignored, and the default judged in its place",
    source="limits.csv ; section `limits` of the stack file",
)
