"""GK3013: a network plug-in too old for efa-only interfaces."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_LEAST = (1, 18, 5)


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding where the VPC CNI is older than efa-only interfaces."""
    kubernetes = context.plan.kubernetes
    if kubernetes is None or not any(
        item.interface_type == "efa-only" for _, group in context.node_groups() for item in group.network_interfaces
    ):
        return
    for addon in kubernetes.addons:
        found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", addon.version)
        if addon.name == "vpc-cni" and found and tuple(int(part) for part in found.groups()) < _LEAST:
            yield tell(
                "GK3013",
                Severity.ERROR,
                "kubernetes.addons.vpc-cni",
                problem=f"vpc-cni {addon.version} does not know efa-only interfaces",
                fix="use 1.18.5 or later, or leave it out: gpukit pins one",
            )


RULE = Rule(
    code="GK3013",
    title="a network plug-in too old for efa-only interfaces",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=("older versions of the VPC CNI try to manage efa-only interfaces and leave the node without pod addresses"),
    source="limits.csv, eks-efa-cni: version 1.18.5",
)
