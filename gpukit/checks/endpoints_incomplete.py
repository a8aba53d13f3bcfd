"""GK3005: a closed network without an endpoint that its nodes need."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_CLUSTER = ("ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "logs", "s3", "ssm", "ssmmessages", "sts")
_WORKSTATION = ("logs", "s3", "ssm", "ssmmessages")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding where a closed network lacks endpoints."""
    plan = context.plan
    network = plan.network
    if network.egress != "endpoints" or plan.kind == "existing-cluster":
        return
    if network.existing_vpc_id is not None:
        yield tell(
            "GK3005",
            Severity.UNKNOWN,
            "network.egress",
            problem=f"which endpoints {network.existing_vpc_id} has is not known",
            fix="run `gpukit preflight`",
        )
        return
    kinds = {store.kind for store in plan.storage}
    needed = set(_CLUSTER if plan.kind == "cluster" else _WORKSTATION)
    needed |= ({"elasticfilesystem"} if "efs" in kinds else set()) | ({"fsx"} if "lustre" in kinds else set())
    missing = sorted(needed - set(network.endpoints))
    if missing:
        yield tell(
            "GK3005",
            Severity.ERROR,
            "network.egress",
            problem=f"the network is closed and has no endpoint for {', '.join(missing)}",
            fix="add these endpoints, or use `egress: nat`",
        )


RULE = Rule(
    code="GK3005",
    title="a closed network without an endpoint that its nodes need",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=(
        "without a NAT gateway every AWS service is reached through an endpoint; a missing one shows only "
        "when a node hangs at its start"
    ),
    source=(
        'EKS User Guide, "Deploy private clusters with limited internet access" ; public report terraform-aws-eks#3533'
    ),
)
