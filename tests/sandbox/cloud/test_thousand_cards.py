"""A thousand GPUs in the double: two Capacity Blocks of 64, their node groups, and everything in order up and down."""

import json
import time
from typing import Any

import pytest
from botocore.exceptions import ClientError

ACCOUNT = "111122223333"
BLOCKS = ("cr-0aaaaaaaaaaaaaaa1", "cr-0aaaaaaaaaaaaaaa2")


class Cluster:
    """A VPC, a cluster and what a test adds to them, by boto3."""

    def __init__(self, cloud: Any) -> None:
        self.cloud = cloud
        self.ec2, self.eks, self.iam = cloud.client("ec2"), cloud.client("eks"), cloud.client("iam")
        self.vpc = self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
        self.subnet = self.make_subnet("10.0.0.0/20", "us-east-1a")
        self.other_subnet = self.make_subnet("10.0.16.0/20", "us-east-1b")
        for name, service in (("control", "eks.amazonaws.com"), ("node", "ec2.amazonaws.com")):
            trust = {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}],
            }
            self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))
        self.eks.create_cluster(
            name="ml",
            version="1.34",
            roleArn=f"arn:aws:iam::{ACCOUNT}:role/control",
            resourcesVpcConfig={"subnetIds": [self.subnet, self.other_subnet]},
            accessConfig={"authenticationMode": "API"},
        )
        self.eks.get_waiter("cluster_active").wait(name="ml", WaiterConfig={"Delay": 1, "MaxAttempts": 3})

    def make_subnet(self, block: str, zone: str) -> str:
        return self.ec2.create_subnet(VpcId=self.vpc, CidrBlock=block, AvailabilityZone=zone)["Subnet"]["SubnetId"]

    def seed_block(self, identifier: str, count: int = 64, instance_type: str = "p5en.48xlarge") -> None:
        self.cloud.ask(
            "POST",
            "/reservations",
            {
                "id": identifier,
                "instance_type": instance_type,
                "instances": count,
                "availability_zone": "us-east-1a",
                "capacity_block": True,
            },
        )

    def make_template(self, reservation: str, cards: int = 16, instance_type: str = "p5en.48xlarge") -> str:
        interfaces = [
            {
                "NetworkCardIndex": card,
                "DeviceIndex": 1 if card else 0,
                "InterfaceType": "efa-only" if card else "interface",
            }
            for card in range(cards)
        ]
        return self.ec2.create_launch_template(
            LaunchTemplateName=f"gpu-{reservation}",
            LaunchTemplateData={
                "InstanceType": instance_type,
                "NetworkInterfaces": interfaces,
                "InstanceMarketOptions": {"MarketType": "capacity-block"},
                "CapacityReservationSpecification": {
                    "CapacityReservationTarget": {"CapacityReservationId": reservation}
                },
                "BlockDeviceMappings": [
                    {"DeviceName": "/dev/xvda", "Ebs": {"VolumeSize": 400, "VolumeType": "gp3", "Encrypted": True}}
                ],
            },
        )["LaunchTemplate"]["LaunchTemplateId"]

    def make_nodegroup(self, name: str, template: str, count: int, **more: Any) -> Any:
        self.eks.create_nodegroup(
            clusterName="ml",
            nodegroupName=name,
            nodeRole=f"arn:aws:iam::{ACCOUNT}:role/node",
            subnets=[self.subnet],
            scalingConfig={"minSize": count, "maxSize": count, "desiredSize": count},
            amiType="AL2023_x86_64_NVIDIA",
            capacityType="CAPACITY_BLOCK",
            launchTemplate={"id": template, "version": "1"},
            **more,
        )
        return self.eks.describe_nodegroup(clusterName="ml", nodegroupName=name)["nodegroup"]


@pytest.fixture
def cluster(cloud: Any) -> Cluster:
    return Cluster(cloud)


@pytest.mark.slow
def test_two_blocks_of_64_come_up_in_seconds_and_go_down_in_order(cluster: Cluster) -> None:
    for block in BLOCKS:
        cluster.seed_block(block)
    templates = [cluster.make_template(block) for block in BLOCKS]

    began = time.monotonic()
    groups = [cluster.make_nodegroup(f"train-{number}", template, 64) for number, template in enumerate(templates)]
    seconds = time.monotonic() - began

    assert [each["status"] for each in groups] == ["ACTIVE", "ACTIVE"]
    assert seconds < 12
    standing = cluster.cloud.ask("GET", "/world")["us-east-1"]
    assert standing["instances"] == 128
    # 128 nodes of 16 interfaces, and the two of the control plane.
    assert standing["network-interfaces"] == 128 * 16 + 2
    # Only the primary interfaces and the control plane's take addresses.
    assert (
        cluster.ec2.describe_subnets(SubnetIds=[cluster.subnet])["Subnets"][0]["AvailableIpAddressCount"]
        == 4_091 - 128 - 1
    )
    blocks = cluster.ec2.describe_capacity_reservations(CapacityReservationIds=list(BLOCKS))["CapacityReservations"]
    assert [each["AvailableInstanceCount"] for each in blocks] == [0, 0]

    with pytest.raises(ClientError, match="ResourceInUseException"):
        cluster.eks.delete_cluster(name="ml")
    for number in range(2):
        cluster.eks.delete_nodegroup(clusterName="ml", nodegroupName=f"train-{number}")
    with pytest.raises(ClientError, match="DependencyViolation"):
        cluster.ec2.delete_subnet(SubnetId=cluster.subnet)
    cluster.eks.delete_cluster(name="ml")
    for subnet in (cluster.subnet, cluster.other_subnet):
        cluster.ec2.delete_subnet(SubnetId=subnet)
    cluster.ec2.delete_vpc(VpcId=cluster.vpc)


def test_block_that_is_full_fails_the_next_node_group_with_a_health_issue(cluster: Cluster) -> None:
    cluster.seed_block(BLOCKS[0], count=3)
    template = cluster.make_template(BLOCKS[0])
    cluster.make_nodegroup("first", template, 2)

    failed = cluster.make_nodegroup("second", template, 2)

    assert failed["status"] == "CREATE_FAILED"
    assert [each["code"] for each in failed["health"]["issues"]] == ["AsgInstanceLaunchFailures"]
    assert "ReservationCapacityExceeded" in failed["health"]["issues"][0]["message"]


def test_node_group_in_a_subnet_that_is_too_small_says_so(cluster: Cluster) -> None:
    cluster.seed_block(BLOCKS[0])
    cluster.subnet = cluster.make_subnet("10.0.32.0/28", "us-east-1a")

    failed = cluster.make_nodegroup("crowded", cluster.make_template(BLOCKS[0]), 12)

    assert failed["status"] == "CREATE_FAILED"
    assert failed["health"]["issues"][0]["code"] == "InsufficientFreeAddresses"
    assert cluster.cloud.ask("GET", "/world")["us-east-1"].get("instances", 0) == 0


def test_scheduled_block_launches_nothing_before_it_opens(cluster: Cluster) -> None:
    cluster.cloud.ask(
        "POST",
        "/reservations",
        {
            "id": BLOCKS[0],
            "instance_type": "p5en.48xlarge",
            "instances": 4,
            "availability_zone": "us-east-1a",
            "capacity_block": True,
            "starts": "2099-01-01",
        },
    )
    template = cluster.make_template(BLOCKS[0])

    assert cluster.make_nodegroup("later", template, 2)["status"] == "CREATE_FAILED"
    cluster.eks.create_nodegroup(
        clusterName="ml",
        nodegroupName="waiting",
        nodeRole=f"arn:aws:iam::{ACCOUNT}:role/node",
        subnets=[cluster.subnet],
        scalingConfig={"minSize": 0, "maxSize": 2, "desiredSize": 0},
        amiType="AL2023_x86_64_NVIDIA",
        capacityType="CAPACITY_BLOCK",
        launchTemplate={"id": template, "version": "1"},
    )
    assert cluster.eks.describe_nodegroup(clusterName="ml", nodegroupName="waiting")["nodegroup"]["status"] == "ACTIVE"


def test_scaling_down_gives_the_places_of_a_block_back(cluster: Cluster) -> None:
    cluster.seed_block(BLOCKS[0], count=4)
    cluster.make_nodegroup("train", cluster.make_template(BLOCKS[0]), 4)

    cluster.eks.update_nodegroup_config(
        clusterName="ml", nodegroupName="train", scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 1}
    )

    block = cluster.ec2.describe_capacity_reservations(CapacityReservationIds=[BLOCKS[0]])["CapacityReservations"][0]
    assert block["AvailableInstanceCount"] == 3


@pytest.mark.parametrize(
    ("strategy", "outcome"),
    [
        pytest.param("DEFAULT", "Failed", id="surge-does-not-fit"),
        pytest.param("MINIMAL", "Successful", id="old-ones-go-first"),
    ],
)
def test_update_of_a_full_block_needs_the_minimal_strategy(cluster: Cluster, strategy: str, outcome: str) -> None:
    cluster.seed_block(BLOCKS[0], count=2)
    template = cluster.make_template(BLOCKS[0])
    cluster.make_nodegroup("train", template, 2, updateConfig={"maxUnavailable": 1, "updateStrategy": strategy})
    cluster.ec2.create_launch_template_version(
        LaunchTemplateId=template, SourceVersion="1", LaunchTemplateData={"EbsOptimized": True}
    )

    update = cluster.eks.update_nodegroup_version(
        clusterName="ml", nodegroupName="train", launchTemplate={"id": template, "version": "2"}
    )["update"]

    done = cluster.eks.describe_update(name="ml", nodegroupName="train", updateId=update["id"])["update"]
    assert done["status"] == outcome
    assert (
        len(
            cluster.ec2.describe_instances(Filters=[{"Name": "instance-state-name", "Values": ["running"]}])[
                "Reservations"
            ][0]["Instances"]
        )
        >= 1
    )
