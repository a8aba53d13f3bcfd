"""What each EKS add-on needs beside its version: rights, configuration, and whether nodes must be there first."""

import json
from dataclasses import dataclass
from typing import Any, Final

import pulumi

BEFORE_NODES: Final = frozenset({"vpc-cni", "kube-proxy", "eks-pod-identity-agent"})
"""
Add-ons that a node needs to become Ready, and that are healthy without one (they are DaemonSets).

Every other add-on waits for nodes: EKS calls a Deployment that cannot be placed DEGRADED, and its creation would fail.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddonRights:
    """The service account of an add-on, and the AWS-managed policy it gets by pod identity."""

    service_account: str
    policy: str


ADDON_RIGHTS: Final = {
    "vpc-cni": AddonRights(service_account="aws-node", policy="AmazonEKS_CNI_Policy"),
    "aws-ebs-csi-driver": AddonRights(
        service_account="ebs-csi-controller-sa", policy="service-role/AmazonEBSCSIDriverPolicy"
    ),
    "aws-efs-csi-driver": AddonRights(
        service_account="efs-csi-controller-sa", policy="service-role/AmazonEFSCSIDriverPolicy"
    ),
    "amazon-cloudwatch-observability": AddonRights(
        service_account="cloudwatch-agent", policy="CloudWatchAgentServerPolicy"
    ),
}
"""Source: EKS User Guide, "AWS add-ons", 2026-08. The FSx driver mounts static volumes only and needs no rights."""

S3_DRIVER: Final = "aws-mountpoint-s3-csi-driver"
S3_DRIVER_ACCOUNT: Final = "s3-csi-driver-sa"


def render_pod_network_configuration(
    region: str, pod_subnets: dict[str, pulumi.Input[str]], security_group_ids: list[pulumi.Input[str]]
) -> pulumi.Output[str]:
    """Return the vpc-cni configuration that gives pods addresses from their own subnets (zone -> subnet id)."""
    subnets: dict[str, Any] = {
        zone: {"id": subnet, "securityGroups": security_group_ids} for zone, subnet in sorted(pod_subnets.items())
    }
    return pulumi.Output.json_dumps(
        {
            "env": {
                "AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG": "true",
                "ENABLE_PREFIX_DELEGATION": "true",
                "ENI_CONFIG_LABEL_DEF": "topology.kubernetes.io/zone",
                "WARM_PREFIX_TARGET": "1",
            },
            "eniConfig": {"create": True, "region": region, "subnets": subnets},
        },
        sort_keys=True,
    )


def render_prefix_configuration() -> str:
    """Return the vpc-cni configuration for pods in the nodes' subnets: by whole /28 prefixes, as the plan counts."""
    return json.dumps({"env": {"ENABLE_PREFIX_DELEGATION": "true", "WARM_PREFIX_TARGET": "1"}}, sort_keys=True)
