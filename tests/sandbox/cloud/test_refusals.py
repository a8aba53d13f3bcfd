"""Requests that AWS refuses by its references, each beside a near one that it takes."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.sandbox.cloud.conftest import RunningCloud

GONE_KEY = "arn:aws:kms:us-east-1:{account}:key/00000000-1111-2222-3333-444444444444"


def code_of(cloud: RunningCloud, service: str, action: str, **request: Any) -> str:
    """Return the code of the refusal, or "" when it is taken."""
    try:
        getattr(cloud.client(service), action)(**request)
    except ClientError as refusal:
        return str(refusal.response["Error"]["Code"])
    return ""


def policy(sid: str) -> str:
    statement = {"Sid": sid, "Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bucket/*"}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


@pytest.mark.parametrize(
    ("service", "action", "request_", "expected"),
    [
        pytest.param("kms", "create_key", {"KeySpec": "RSA_2048"}, "ValidationException", id="rsa-key-without-usage"),
        pytest.param("kms", "create_key", {"KeySpec": "RSA_2048", "KeyUsage": "SIGN_VERIFY"}, "", id="rsa-key-with-usage"),
        pytest.param("kms", "create_key", {"KeySpec": "HMAC_256"}, "ValidationException", id="hmac-key-without-usage"),
        pytest.param("kms", "create_key", {"KeySpec": "ECC_NIST_P256", "KeyUsage": "ENCRYPT_DECRYPT"}, "ValidationException", id="curve-that-encrypts"),
        pytest.param("kms", "create_key", {"KeyUsage": "SIGN_VERIFY"}, "ValidationException", id="symmetric-key-that-signs"),
        pytest.param("kms", "create_key", {}, "", id="symmetric-key"),
        pytest.param("kms", "create_key", {"Origin": "AWS_CLOUDHSM"}, "ValidationException", id="hsm-without-store"),
        pytest.param("iam", "create_policy", {"PolicyName": "p", "PolicyDocument": policy("read-only")}, "MalformedPolicyDocument", id="sid-with-hyphen"),
        pytest.param("iam", "create_policy", {"PolicyName": "p", "PolicyDocument": policy("read only")}, "MalformedPolicyDocument", id="sid-with-space"),
        pytest.param("iam", "create_policy", {"PolicyName": "p", "PolicyDocument": policy("ReadOnly1")}, "", id="sid-of-letters-and-digits"),
        pytest.param("ec2", "create_volume", {"AvailabilityZone": "us-east-1z", "Size": 10}, "InvalidZone.NotFound", id="volume-in-no-zone"),
        pytest.param("ec2", "create_volume", {"AvailabilityZone": "eu-west-1a", "Size": 10}, "InvalidZone.NotFound", id="volume-in-another-region"),
        pytest.param("ec2", "create_volume", {"AvailabilityZoneId": "use1-az99", "Size": 10}, "InvalidZone.NotFound", id="volume-in-no-zone-id"),
        pytest.param("ec2", "create_volume", {"Size": 10}, "MissingParameter", id="volume-without-zone"),
        pytest.param("ec2", "create_volume", {"AvailabilityZone": "us-east-1a", "Size": 10, "KmsKeyId": "alias/x"}, "InvalidParameterDependency", id="volume-with-key-unencrypted"),
        pytest.param("ec2", "create_volume", {"AvailabilityZone": "us-east-1a", "Size": 10}, "", id="volume-in-a-zone"),
        pytest.param("ec2", "create_volume", {"AvailabilityZoneId": "use1-az1", "Size": 10}, "", id="volume-in-a-zone-by-id"),
    ],
)  # fmt: skip
def test_a_request_gets_the_code_of_the_reference(
    cloud: RunningCloud, service: str, action: str, request_: dict[str, Any], expected: str
) -> None:
    assert code_of(cloud, service, action, **request_) == expected


def test_subnets_and_instances_are_in_zones_that_exist(cloud: RunningCloud) -> None:
    ec2 = cloud.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = {"VpcId": vpc, "CidrBlock": "10.0.1.0/24"}

    assert code_of(cloud, "ec2", "create_subnet", **subnet, AvailabilityZone="us-east-1z") == "InvalidParameterValue"
    assert code_of(cloud, "ec2", "create_subnet", **subnet, AvailabilityZoneId="use1-az99") == "InvalidParameterValue"
    made = ec2.create_subnet(**subnet, AvailabilityZone="us-east-1a")["Subnet"]["SubnetId"]

    image = ec2.describe_images(Owners=["amazon"])["Images"][0]["ImageId"]
    launch = {"ImageId": image, "InstanceType": "t3.micro", "MinCount": 1, "MaxCount": 1}
    for where in ({"SubnetId": made}, {}):
        with pytest.raises(ClientError, match=r"Invalid availability zone: \[us-east-1z\]") as refusal:
            ec2.run_instances(**launch, **where, Placement={"AvailabilityZone": "us-east-1z"})
        assert refusal.value.response["Error"]["Code"] == "InvalidParameterValue"


def test_a_log_group_takes_an_enabled_symmetric_key_of_its_region(cloud: RunningCloud) -> None:
    kms, logs = cloud.client("kms"), cloud.client("logs")
    key = kms.create_key()["KeyMetadata"]
    gone = GONE_KEY.format(account=key["Arn"].split(":")[4])
    pair = kms.create_key(KeySpec="RSA_2048", KeyUsage="ENCRYPT_DECRYPT")["KeyMetadata"]["Arn"]

    for refused in (gone, key["Arn"].replace("us-east-1", "us-west-2"), pair):
        assert (
            code_of(cloud, "logs", "create_log_group", logGroupName="g", kmsKeyId=refused)
            == "InvalidParameterException"
        )
    logs.create_log_group(logGroupName="g", kmsKeyId=key["Arn"])
    assert code_of(cloud, "logs", "associate_kms_key", logGroupName="g", kmsKeyId=gone) == "InvalidParameterException"

    kms.disable_key(KeyId=key["KeyId"])
    assert (
        code_of(cloud, "logs", "create_log_group", logGroupName="h", kmsKeyId=key["Arn"]) == "InvalidParameterException"
    )


def test_a_file_system_is_changed_to_a_throughput_that_its_type_has(cloud: RunningCloud) -> None:
    ec2, fsx = cloud.client("ec2"), cloud.client("fsx")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24", AvailabilityZone="us-east-1a")["Subnet"]["SubnetId"]
    group = ec2.create_security_group(GroupName="lustre", Description="lustre", VpcId=vpc)["GroupId"]
    own = [{"GroupId": group}]
    ports = [{"IpProtocol": "tcp", "FromPort": low, "ToPort": high, "UserIdGroupPairs": own} for low, high in ((988, 988), (1018, 1023))]  # fmt: skip
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=ports)
    made = fsx.create_file_system(
        FileSystemType="LUSTRE", StorageCapacity=1200, StorageType="SSD", SubnetIds=[subnet], SecurityGroupIds=[group],
        LustreConfiguration={"DeploymentType": "PERSISTENT_2", "PerUnitStorageThroughput": 125},
    )["FileSystem"]["FileSystemId"]  # fmt: skip

    def changed(**lustre: Any) -> str:
        return code_of(cloud, "fsx", "update_file_system", FileSystemId=made, LustreConfiguration=lustre)

    assert changed(PerUnitStorageThroughput=200) == "BadRequest", "200 is of PERSISTENT_1"
    assert changed(ThroughputCapacity=4_000) == "BadRequest", "that is of Intelligent-Tiering"
    assert changed(PerUnitStorageThroughput=250) == ""


@pytest.mark.parametrize(("size", "expected"), [(0, True), (-1, True), (70_000, True), (100, False)])
def test_a_node_groups_disk_is_of_a_size_that_volumes_have(cloud: RunningCloud, size: int, expected: bool) -> None:
    ec2, iam, eks = cloud.client("ec2"), cloud.client("iam"), cloud.client("eks")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=f"us-east-1{zone}")["Subnet"]["SubnetId"]
        for number, zone in enumerate("ab")
    ]  # fmt: skip
    roles = {}
    for name, service, policies in (
        ("cluster", "eks", ["AmazonEKSClusterPolicy"]),
        ("node", "ec2", ["AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy", "AmazonEC2ContainerRegistryReadOnly"]),
    ):
        trust = {"Effect": "Allow", "Principal": {"Service": f"{service}.amazonaws.com"}, "Action": "sts:AssumeRole"}
        document = json.dumps({"Version": "2012-10-17", "Statement": [trust]})
        roles[name] = iam.create_role(RoleName=name, AssumeRolePolicyDocument=document)["Role"]["Arn"]
        for each in policies:
            iam.attach_role_policy(RoleName=name, PolicyArn=f"arn:aws:iam::aws:policy/{each}")
    eks.create_cluster(name="ml", roleArn=roles["cluster"], resourcesVpcConfig={"subnetIds": subnets})
    eks.get_waiter("cluster_active").wait(name="ml", WaiterConfig={"Delay": 1, "MaxAttempts": 30})

    code = code_of(
        cloud, "eks", "create_nodegroup", clusterName="ml", nodegroupName="a", nodeRole=roles["node"], subnets=subnets,
        scalingConfig={"minSize": 0, "maxSize": 1, "desiredSize": 0}, diskSize=size,
    )  # fmt: skip

    assert code == ("InvalidParameterException" if expected else "")
