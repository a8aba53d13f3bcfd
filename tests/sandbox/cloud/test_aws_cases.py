"""Every call of `aws_cases.jsonl`, by boto3 against the real process, in the world that the case describes, built by API calls."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

CASES = [
    json.loads(line) for line in (Path(__file__).parent / "aws_cases.jsonl").read_text(encoding="utf-8").splitlines()
]
ACCOUNT = "111122223333"
KMS_KEY_OF_CASES = "1234abcd-12ab-34cd-56ef-1234567890ab"


@pytest.mark.parametrize("case", [pytest.param(each, id=each["id"]) for each in CASES])
def test_cloud_answers_as_aws_does(case: dict[str, Any], cloud: Any) -> None:
    world = CaseWorld(cloud)
    region = re.search(r"endpoint ([a-z0-9-]+)", case.get("given", ""))
    world.build(case)
    client = cloud.client(case["service"], region.group(1) if region else "us-east-1")
    method = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", case["api"]).lower()

    def call() -> Any:
        return getattr(client, method)(**world.fill(case["input"]))

    if case["verdict"] == "accepted":
        call()
        return
    with pytest.raises(ClientError) as refusal:
        call()
    code = refusal.value.response["Error"]["Code"]
    assert code not in ("NotImplemented", "InternalError", "InternalFailure", "Unknown"), refusal.value
    if case["code_sure"]:
        assert code in case["aws_error_code"].split("|"), refusal.value


class CaseWorld:
    """The world of one case: what its `given` says and what its input names, made when it is asked for."""

    def __init__(self, cloud: Any) -> None:
        self.cloud = cloud
        self.made: dict[str, Any] = {}
        self.ec2, self.eks, self.iam = cloud.client("ec2"), cloud.client("eks"), cloud.client("iam")

    def build(self, case: Mapping[str, Any]) -> None:
        """Do what the phrases of `given` say, in the order of `PHRASES`."""
        given = case.get("given", "")
        for phrase, step in PHRASES:
            if phrase in given:
                step(self)

    def fill(self, value: Any) -> Any:
        """Return the input with what its `${names}` stand for."""
        if isinstance(value, str):
            whole = re.fullmatch(r"\$\{(\w+)\}", value)
            text = self[whole.group(1)] if whole else value
            return text.replace(KMS_KEY_OF_CASES, self["kms_key"]) if KMS_KEY_OF_CASES in str(text) else text
        if isinstance(value, list):
            return [self.fill(each) for each in value]
        if isinstance(value, dict):
            return {key: self.fill(each) for key, each in value.items()}
        return value

    def __getitem__(self, name: str) -> Any:
        if name not in self.made:
            self.made[name] = getattr(self, f"make_{name}")()
        return self.made[name]

    def make_vpc(self) -> str:
        return self.ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]

    def make_other_vpc(self) -> str:
        return self.ec2.create_vpc(CidrBlock="10.9.0.0/16")["Vpc"]["VpcId"]

    def subnet(self, block: str, zone: str) -> str:
        return self.ec2.create_subnet(VpcId=self["vpc"], CidrBlock=block, AvailabilityZone=zone)["Subnet"]["SubnetId"]

    def make_subnet_a(self) -> str:
        return self.subnet("10.0.0.0/24", "us-east-1a")

    def make_subnet_b(self) -> str:
        return self.subnet("10.0.1.0/24", "us-east-1b")

    def make_subnet_a2(self) -> str:
        return self.subnet("10.0.2.0/24", "us-east-1a")

    def make_subnet_28(self) -> str:
        return self.subnet("10.0.3.0/28", "us-east-1a")

    def make_subnet_e(self) -> str:
        offered = self.ec2.describe_instance_type_offerings(
            LocationType="availability-zone", Filters=[{"Name": "instance-type", "Values": ["p5.48xlarge"]}]
        )["InstanceTypeOfferings"]
        zones = {each["ZoneName"] for each in self.ec2.describe_availability_zones()["AvailabilityZones"]}
        return self.subnet(
            "10.0.4.0/24",
            min(
                zone for zone in zones - {each["Location"] for each in offered} if re.fullmatch(r"us-east-1[a-z]", zone)
            ),
        )

    def group(self, name: str, vpc: str | None = None) -> str:
        return self.ec2.create_security_group(GroupName=name, Description=name, VpcId=vpc or self["vpc"])["GroupId"]

    def make_sg_a(self) -> str:
        return self.group("a")

    def make_sg_other_vpc(self) -> str:
        return self.group("other", self["other_vpc"])

    def make_sg_closed(self) -> str:
        return self.group("closed")

    def make_sg_lustre(self) -> str:
        group = self.group("lustre")
        ports = [(988, 988), (1018, 1023)]
        self.ec2.authorize_security_group_ingress(
            GroupId=group,
            IpPermissions=[
                {"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "UserIdGroupPairs": [{"GroupId": group}]}
                for low, high in ports
            ],
        )
        return group

    def make_sg_efa(self) -> str:
        group = self.group("efa")
        everything = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
        self.ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=everything)
        self.ec2.authorize_security_group_egress(GroupId=group, IpPermissions=everything)
        return group

    def make_sg_default(self) -> str:
        groups = self.ec2.describe_security_groups(
            Filters=[{"Name": "vpc-id", "Values": [self["vpc"]]}, {"Name": "group-name", "Values": ["default"]}]
        )
        return groups["SecurityGroups"][0]["GroupId"]

    def make_ami_x86(self) -> str:
        volume = self.ec2.create_volume(AvailabilityZone="us-east-1a", Size=1)["VolumeId"]
        snapshot = self.ec2.create_snapshot(VolumeId=volume)["SnapshotId"]
        return self.ec2.register_image(
            Name="ami-x86",
            Architecture="x86_64",
            RootDeviceName="/dev/xvda",
            VirtualizationType="hvm",
            BlockDeviceMappings=[{"DeviceName": "/dev/xvda", "Ebs": {"SnapshotId": snapshot}}],
        )["ImageId"]

    def reservation(self, identifier: str, instance_type: str, count: int, *, block: bool) -> str:
        self.cloud.ask(
            "POST",
            "/reservations",
            {
                "id": identifier,
                "instance_type": instance_type,
                "instances": count,
                "availability_zone": "us-east-1a",
                "capacity_block": block,
            },
        )
        return identifier

    def make_cr_block_p5(self) -> str:
        return self.reservation("cr-0b00000000000000a", "p5.48xlarge", 4, block=True)

    def make_cr_block_b300(self) -> str:
        return self.reservation("cr-0b00000000000000b", "p6-b300.48xlarge", 4, block=True)

    def make_cr_p5(self) -> str:
        return self.reservation("cr-0a00000000000000a", "p5.48xlarge", 4, block=False)

    def make_cr_p5_two(self) -> str:
        return self.reservation("cr-0a00000000000000b", "p5.48xlarge", 2, block=False)

    def make_b64_of_16385_bytes(self) -> str:
        return base64.b64encode(b"#" * 16_385).decode()

    def make_policy_6000_nonspace_9000_total(self) -> str:
        resources = [f"arn:aws:s3:::data-{number:04d}/*" for number in range(400)]
        while True:
            document = {
                "Version": "2012-10-17",
                "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": resources}],
            }
            dense = json.dumps(document, separators=(",", ":"))
            if len(dense) <= 6_000:
                break
            resources.pop()
        text = json.dumps(document, indent=1)
        text += " " * (9_000 - len(text))
        assert len(text) == 9_000
        return text

    def make_instance_protected(self) -> str:
        answer = self.ec2.run_instances(
            ImageId=self["ami_x86"],
            InstanceType="t3.micro",
            MinCount=1,
            MaxCount=1,
            SubnetId=self["subnet_a"],
            DisableApiTermination=True,
        )
        return answer["Instances"][0]["InstanceId"]

    def make_igw(self) -> str:
        gateway = self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        self.ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=self["vpc"])
        return gateway

    def make_rtb(self) -> str:
        _ = self["igw"]
        address = self.ec2.allocate_address(Domain="vpc")["AllocationId"]
        nat = self.ec2.create_nat_gateway(SubnetId=self["subnet_a"], AllocationId=address)["NatGateway"]["NatGatewayId"]
        table = self.ec2.create_route_table(VpcId=self["vpc"])["RouteTable"]["RouteTableId"]
        self.ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", NatGatewayId=nat)
        return table

    def make_kms_key(self) -> str:
        return self.cloud.client("kms").create_key()["KeyMetadata"]["KeyId"]

    def make_efs(self) -> str:
        return self.cloud.client("efs").create_file_system(CreationToken="home")["FileSystemId"]

    def make_fs_p2(self) -> str:
        return self.cloud.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=4_800,
            SubnetIds=[self["subnet_a"]],
            SecurityGroupIds=[self["sg_lustre"]],
            LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 500},
        )["FileSystem"]["FileSystemId"]

    def role(self, name: str, service: str) -> None:
        trust = {
            "Version": "2012-10-17",
            "Statement": [{"Effect": "Allow", "Principal": {"Service": service}, "Action": "sts:AssumeRole"}],
        }
        self.iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(trust))

    def cluster_roles(self) -> None:
        self.role("eks-cluster", "eks.amazonaws.com")
        self.role("eks-node", "ec2.amazonaws.com")

    def cluster(self) -> None:
        self.eks.create_cluster(
            name="ml",
            version="1.33",
            roleArn=f"arn:aws:iam::{ACCOUNT}:role/eks-cluster",
            resourcesVpcConfig={"subnetIds": [self["subnet_a"], self["subnet_b"]]},
            accessConfig={"authenticationMode": "API"},
        )
        assert self.eks.describe_cluster(name="ml")["cluster"]["status"] == "ACTIVE"

    def nodegroup(self, **more: Any) -> None:
        self.eks.create_nodegroup(
            clusterName="ml",
            nodegroupName="gpu",
            nodeRole=f"arn:aws:iam::{ACCOUNT}:role/eks-node",
            subnets=[self["subnet_a"]],
            scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 0},
            instanceTypes=["g5.8xlarge"],
            **more,
        )

    def template(self, name: str, **data: Any) -> None:
        self.ec2.create_launch_template(LaunchTemplateName=name, LaunchTemplateData=data or {"EbsOptimized": True})

    def nodegroup_with_template(self) -> None:
        self.template("gpu-nodes")
        self.template("other-template")
        self.nodegroup(launchTemplate={"name": "gpu-nodes", "version": "1"})

    def template_two_group_places(self) -> None:
        self.template(
            "gpu-two-sg-places",
            ImageId=self["ami_x86"],
            InstanceType="g5.8xlarge",
            SecurityGroupIds=[self["sg_a"]],
            NetworkInterfaces=[{"DeviceIndex": 0, "Groups": [self["sg_a"]]}],
        )

    def template_block_without_market(self) -> None:
        target = {"CapacityReservationTarget": {"CapacityReservationId": self["cr_block_p5"]}}
        self.template("cb-no-market", InstanceType="p5.48xlarge", CapacityReservationSpecification=target)

    def instance_in_group(self) -> None:
        self.ec2.create_placement_group(GroupName="gpu-pg", Strategy="cluster")
        self.ec2.run_instances(
            ImageId=self["ami_x86"],
            InstanceType="g5.8xlarge",
            MinCount=1,
            MaxCount=1,
            SubnetId=self["subnet_a"],
            Placement={"GroupName": "gpu-pg"},
        )

    def reservation_in_group(self) -> None:
        group = self.ec2.create_placement_group(GroupName="gpu-pg", Strategy="cluster")["PlacementGroup"]
        self.ec2.create_capacity_reservation(
            InstanceType="g5.8xlarge",
            InstancePlatform="Linux/UNIX",
            AvailabilityZone="us-east-1a",
            InstanceCount=1,
            PlacementGroupArn=group["GroupArn"],
        )

    def dual_stack(self) -> None:
        self.ec2.associate_vpc_cidr_block(VpcId=self["vpc"], AmazonProvidedIpv6CidrBlock=True)
        vpc = self.ec2.describe_vpcs(VpcIds=[self["vpc"]])["Vpcs"][0]
        block = vpc["Ipv6CidrBlockAssociationSet"][0]["Ipv6CidrBlock"].removesuffix("00::/56")
        for number, name in enumerate(("subnet_a", "subnet_b")):
            self.ec2.associate_subnet_cidr_block(SubnetId=self[name], Ipv6CidrBlock=f"{block}{number:02d}::/64")

    def profile_with_role(self) -> None:
        self.role("first", "ec2.amazonaws.com")
        self.role("second", "ec2.amazonaws.com")
        self.iam.create_instance_profile(InstanceProfileName="gpu-nodes")
        self.iam.add_role_to_instance_profile(InstanceProfileName="gpu-nodes", RoleName="first")

    def policy_with_five_versions(self) -> None:
        document = json.dumps(
            {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]}
        )
        policy = self.iam.create_policy(PolicyName="data", PolicyDocument=document)["Policy"]["Arn"]
        for _ in range(4):
            self.iam.create_policy_version(PolicyArn=policy, PolicyDocument=document)

    def entry(self) -> None:
        self.eks.create_access_entry(clusterName="ml", principalArn=f"arn:aws:iam::{ACCOUNT}:role/admins")

    def mount_target(self) -> None:
        self.cloud.client("efs").create_mount_target(FileSystemId=self["efs"], SubnetId=self["subnet_a"])

    def association(self) -> None:
        self.cloud.client("fsx").create_data_repository_association(
            FileSystemId=self["fs_p2"], FileSystemPath="/data/", DataRepositoryPath="s3://training-data/all/"
        )

    def self_rule(self) -> None:
        self.ec2.authorize_security_group_ingress(
            GroupId=self["sg_a"], IpPermissions=[{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": self["sg_a"]}]}]
        )

    def group_that_names_sg_a(self) -> None:
        other = self.group("c")
        pairs = [{"IpProtocol": "tcp", "FromPort": 1, "ToPort": 1, "UserIdGroupPairs": [{"GroupId": self["sg_a"]}]}]
        self.ec2.authorize_security_group_ingress(GroupId=other, IpPermissions=pairs)

    def bucket(self, name: str, region: str) -> None:
        s3 = self.cloud.client("s3", region)
        where = {} if region == "us-east-1" else {"CreateBucketConfiguration": {"LocationConstraint": region}}
        s3.create_bucket(Bucket=name, **where)

    def faults(self, **faults: Any) -> None:
        self.cloud.ask("POST", "/faults", faults)

    def image_of_case(self) -> None:
        self.cloud.ask("POST", "/images", {"id": "ami-0123456789abcdef0", "name": "base", "architecture": "x86_64"})

    def image_builder_profile(self) -> None:
        self.iam.create_instance_profile(InstanceProfileName="image-builder")


PHRASES: list[tuple[str, Callable[[CaseWorld], Any]]] = [
    ("VPC 10.0.0.0/16 in us-east-1", lambda world: (world["subnet_a"], world["sg_a"])),
    ("cluster_role and node_role are valid roles", CaseWorld.cluster_roles),
    ("VPC and subnets are dual-stack", CaseWorld.dual_stack),
    ("cluster ml (Kubernetes 1.33, authentication mode API) is ACTIVE", CaseWorld.cluster),
    (
        "the log group exists",
        lambda world: world.cloud.client("logs").create_log_group(logGroupName="/aws/eks/ml/cluster"),
    ),
    ("the template of case ec2-lt-08 exists", CaseWorld.template_two_group_places),
    (
        "launch template arm-on-x86",
        lambda world: world.template("arm-on-x86", InstanceType="g5g.xlarge", ImageId=world["ami_x86"]),
    ),
    (
        "placement group gpu-pg exists",
        lambda world: world.ec2.create_placement_group(GroupName="gpu-pg", Strategy="cluster"),
    ),
    ("one instance of gpu-pg is running", CaseWorld.instance_in_group),
    ("one active Capacity Reservation was created with its ARN", CaseWorld.reservation_in_group),
    (
        "gpu-pg has strategy cluster",
        lambda world: world.ec2.create_placement_group(GroupName="gpu-pg", Strategy="cluster"),
    ),
    (
        "spread-pg has strategy spread",
        lambda world: world.ec2.create_placement_group(GroupName="spread-pg", Strategy="spread"),
    ),
    (
        "repository train/base exists",
        lambda world: world.cloud.client("ecr").create_repository(repositoryName="train/base"),
    ),
    ("efs has a mount target", CaseWorld.mount_target),
    ("role admins", lambda world: world.role("admins", "ec2.amazonaws.com")),
    ("has a STANDARD entry", CaseWorld.entry),
    ("role self-managed-nodes exists", lambda world: world.role("self-managed-nodes", "ec2.amazonaws.com")),
    ("node group gpu is ACTIVE", CaseWorld.nodegroup),
    ("gpu-nodes v1 has neither type nor image", lambda world: world.template("gpu-nodes")),
    ("gpu-nodes v1 sets InstanceType g5.8xlarge", lambda world: world.template("gpu-nodes", InstanceType="g5.8xlarge")),
    (
        "gpu-nodes v1 sets InstanceType p5.48xlarge and SubnetId",
        lambda world: world.template(
            "gpu-nodes",
            InstanceType="p5.48xlarge",
            NetworkInterfaces=[{"DeviceIndex": 0, "SubnetId": world["subnet_a"]}],
        ),
    ),
    ("gpu-nodes v1 sets ImageId to a custom AMI", lambda world: world.template("gpu-nodes", ImageId=world["ami_x86"])),
    ("template cb-no-market v1", CaseWorld.template_block_without_market),
    ("node group gpu was created with template gpu-nodes", CaseWorld.nodegroup_with_template),
    ("fs_p2 already has an association at /data/", CaseWorld.association),
    ("instance profile gpu-nodes already holds a role", CaseWorld.profile_with_role),
    ("policy data has 5 versions", CaseWorld.policy_with_five_versions),
    ("the instance profile exist", CaseWorld.image_builder_profile),
    ("the AMI is available to the account", CaseWorld.image_of_case),
    (
        "the key is PendingDeletion",
        lambda world: world.cloud.client("kms").schedule_key_deletion(KeyId=world["kms_key"], PendingWindowInDays=7),
    ),
    (
        "the On-Demand P quota (L-417A185B) is 192 vCPU",
        lambda world: world.cloud.ask("POST", "/quotas", {"code": "L-417A185B", "value": 192}),
    ),
    (
        "the zone has no p5 capacity",
        lambda world: world.faults(capacity=[{"instance_type": "p5.48xlarge", "zone": "us-east-1a", "available": 0}]),
    ),
    (
        "the token bucket of the account is empty",
        lambda world: world.faults(throttle=[{"action": "ec2:*", "per_second": 0}]),
    ),
    ("the account is over IAM's rate", lambda world: world.faults(throttle=[{"action": "iam:*", "per_second": 0}])),
    (
        "the rate of EC2 calls on the account's behalf",
        lambda world: world.faults(throttle=[{"action": "imagebuilder:*", "per_second": 0}]),
    ),
    ("owns gpu-checkpoints-03 in us-west-2", lambda world: world.bucket("gpu-checkpoints-03", "us-west-2")),
    ("owns gpu-checkpoints-04 in us-east-1", lambda world: world.bucket("gpu-checkpoints-04", "us-east-1")),
    ("the bucket exists", lambda world: world.bucket("gpu-checkpoints-04", "us-east-1")),
    ("sg_a already has this rule", CaseWorld.self_rule),
    (
        "a network interface exists in subnet_a",
        lambda world: world.ec2.create_network_interface(SubnetId=world["subnet_a"]),
    ),
    ("a rule of sg_c in the same VPC has sg_a as its source", CaseWorld.group_that_names_sg_a),
]
