"""A node group whose creation failed: reported as incomplete, and replaced by the next update, as the real provider's taint does."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from gpukit_sandbox.provider.values import Properties, from_struct
from pulumi.runtime.proto import provider_pb2, status_pb2

from tests.sandbox.engine.as_engine import Aborted, Context, Double

TOKEN = "aws:eks/nodeGroup:NodeGroup"
NO_CAPACITY = {"capacity": [{"instance_type": "m5.large", "zone": "us-east-1a", "available": 0}]}


def client(endpoint: str, service: str) -> Any:
    return boto3.client(
        service, endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id="x", aws_secret_access_key="x"
    )


def set_faults(endpoint: str, faults: dict[str, Any]) -> None:
    request = urllib.request.Request(f"{endpoint}/_gpukit/faults", json.dumps(faults).encode(), method="POST")
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10).close()


@pytest.fixture
def inputs(endpoint: str) -> Iterator[Properties]:
    """A node group of a cluster that stands, with no fault left behind."""
    ec2, iam, eks = (client(endpoint, service) for service in ("ec2", "iam", "eks"))
    vpc = ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.9.{16 * i}.0/20", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for i, zone in enumerate(("us-east-1a", "us-east-1b"))
    ]
    roles = {}
    for name, service in (("still-control", "eks.amazonaws.com"), ("still-node", "ec2.amazonaws.com")):
        rule = {"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [rule]})
        roles[name] = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"]
    policies = {
        "still-control": ["AmazonEKSClusterPolicy"],
        "still-node": ["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryReadOnly", "AmazonEKS_CNI_Policy"],
    }
    for name, attached in policies.items():
        for policy in attached:
            iam.attach_role_policy(RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{policy}")
    eks.create_cluster(name="still", roleArn=roles["still-control"], resourcesVpcConfig={"subnetIds": subnets})
    yield {
        "clusterName": "still",
        "nodeGroupName": "train",
        "nodeRoleArn": roles["still-node"],
        "subnetIds": subnets[:1],
        "instanceTypes": ["m5.large"],
        "scalingConfig": {"minSize": 1, "maxSize": 1, "desiredSize": 1},
    }
    set_faults(endpoint, {})


def fail_to_create(double: Double, inputs: Properties) -> tuple[str, Properties]:
    """Return id and state that the engine keeps of a creation that failed."""
    context = Context()
    request = provider_pb2.CreateRequest(urn=double.urn(TOKEN, "train"), type=TOKEN, name="train")
    request.properties.update(inputs)
    with pytest.raises(Aborted, match="CREATE_FAILED"):
        double.provider.Create(request, context)
    told = status_pb2.Status.FromString(dict(context.metadata)["grpc-status-details-bin"])
    failed = provider_pb2.ErrorResourceInitFailed()
    assert told.details[0].Unpack(failed)
    return failed.id, from_struct(failed.properties)


def test_a_failed_creation_is_replaced_by_the_next_update(endpoint: str, double: Double, inputs: Properties) -> None:
    inputs, refused = double.check(TOKEN, "train", inputs)
    assert refused == {}
    set_faults(endpoint, NO_CAPACITY)
    resource_id, state = fail_to_create(double, inputs)
    set_faults(endpoint, {})

    planned = double.diff(TOKEN, "train", resource_id, state, inputs, inputs)
    assert list(planned.replaces) == ["status"]
    assert planned.deleteBeforeReplace, "the name is stated: both cannot stand"
    double.delete(TOKEN, "train", resource_id, state, inputs)
    again, fresh = double.create(TOKEN, "train", inputs)

    assert again == resource_id
    assert fresh["status"] == "ACTIVE"
    assert not double.diff(TOKEN, "train", again, fresh, inputs, inputs).replaces
