"""GK2044: more pods a node than it has addresses for."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_CAP, _CAP_SMALL, _SMALL_VCPU = 250, 110, 30


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each pool whose pod limit is above what its nodes carry."""
    for name, pool in context.spec.pools.items():
        wanted = pool.node.kubelet.max_pods
        if wanted is None:
            continue
        for row in context.gpu_types(pool):
            cap = _CAP if row.vcpu > _SMALL_VCPU else _CAP_SMALL
            most = max(cap, row.max_pods or 0)
            if wanted > most:
                yield tell(
                    "GK2044",
                    Severity.WARNING,
                    f"pools.{name}.node.kubelet.max_pods",
                    problem=f"{wanted} pods on {row.name}, which carries {most}",
                    fix=f"use at most {most}",
                )


RULE = Rule(
    code="GK2044",
    title="more pods a node than it has addresses for",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why=(
        "pods beyond the addresses of the node's interfaces stay in `ContainerCreating`, and the kubelet "
        "itself is tested to 110 pods on small nodes and 250 on large ones"
    ),
    source="limits.csv, eks-max-pods and eks-max-pods-cap (amazon-eks-ami, amazon-vpc-cni)",
)
