"""A small EKS cluster in the double, made as a program makes it: through boto3."""

import json
from dataclasses import dataclass
from typing import Any

ACCOUNT_ROOT = "arn:aws:iam::111122223333:root"
POLICY_PREFIX = "arn:aws:eks::aws:cluster-access-policy/"


@dataclass(frozen=True, slots=True, kw_only=True)
class EksWorld:
    """A cluster's name, and what its node groups need."""

    name: str
    node_role: str
    subnets: tuple[str, ...]


def make_eks_cluster(aws: Any, name: str) -> EksWorld:
    cluster_role = _role(aws, f"{name}-cluster", {"Service": "eks.amazonaws.com"}, "AmazonEKSClusterPolicy")
    node_role = _role(
        aws,
        f"{name}-node",
        {"Service": "ec2.amazonaws.com"},
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
    )
    ec2 = aws("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = tuple(
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=f"us-east-1{zone}")["Subnet"][
            "SubnetId"
        ]
        for number, zone in enumerate("ab")
    )
    aws("eks").create_cluster(
        name=name,
        roleArn=cluster_role,
        resourcesVpcConfig={"subnetIds": list(subnets)},
        accessConfig={"authenticationMode": "API"},
    )
    return EksWorld(name=name, node_role=node_role, subnets=subnets)


def make_node_group(aws: Any, world: EksWorld, name: str, **settings: Any) -> dict[str, Any]:
    group = {
        "clusterName": world.name,
        "nodegroupName": name,
        "nodeRole": world.node_role,
        "subnets": list(world.subnets),
        "instanceTypes": ["m7i.xlarge"],
        **settings,
    }
    return aws("eks").create_nodegroup(**group)["nodegroup"]


def make_principal(aws: Any, world: EksWorld, name: str, *policies: str, namespaces: tuple[str, ...] = ()) -> str:
    """Return the ARN of a role with an access entry for these policies; without policies it has no entry."""
    arn = _role(aws, name, {"AWS": ACCOUNT_ROOT})
    if policies:
        aws("eks").create_access_entry(clusterName=world.name, principalArn=arn, type="STANDARD")
    for policy in policies:
        scope = {"type": "namespace", "namespaces": list(namespaces)} if namespaces else {"type": "cluster"}
        aws("eks").associate_access_policy(
            clusterName=world.name, principalArn=arn, policyArn=POLICY_PREFIX + policy, accessScope=scope
        )
    return arn


def _role(aws: Any, name: str, principal: dict[str, str], *policies: str) -> str:
    trust = {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": principal, "Action": "sts:AssumeRole"}],
    }
    arn = str(aws("iam").create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))["Role"]["Arn"])
    for policy in policies:
        aws("iam").attach_role_policy(RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
    return arn
