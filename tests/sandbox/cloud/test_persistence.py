"""The world survives the process: an orderly end loses nothing, a kill at most the last moments."""

import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gpukit_sandbox.cloud.persistence import SAVE_AFTER_SECONDS

# each test runs whole processes
pytestmark = pytest.mark.slow

TRUST = json.dumps(
    {
        "Version": "2012-10-17",
        "Statement": [{"Effect": "Allow", "Principal": {"Service": "eks.amazonaws.com"}, "Action": "sts:AssumeRole"}],
    }
)


def build_a_bit_of_everything(cloud: Any) -> dict[str, Any]:
    """Make one thing of each service, and return what tells them."""
    ec2 = cloud.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=f"us-east-1{zone}")["Subnet"][
            "SubnetId"
        ]
        for number, zone in enumerate("ab")
    ]
    image = ec2.describe_images(Owners=["amazon"], Filters=[{"Name": "name", "Values": ["*x86_64-nvidia-1.34*"]}])[
        "Images"
    ][0]["ImageId"]
    ec2.run_instances(ImageId=image, InstanceType="g5.xlarge", MinCount=1, MaxCount=1, SubnetId=subnets[0])
    ec2.create_placement_group(GroupName="gpu", Strategy="cluster")
    cloud.client("iam").create_role(RoleName="control", AssumeRolePolicyDocument=TRUST)
    key = cloud.client("kms").create_key()["KeyMetadata"]["KeyId"]
    cloud.client("kms").create_key(KeySpec="RSA_2048", KeyUsage="SIGN_VERIFY")
    s3 = cloud.client("s3")
    s3.create_bucket(Bucket="checkpoints")
    s3.put_object(Bucket="checkpoints", Key="step-1", Body=b"weights")
    cloud.client("logs").create_log_group(logGroupName="/aws/eks/ml/cluster")
    cloud.client("ssm").put_parameter(Name="/gpukit/zone", Value="hall-a", Type="String")
    cloud.client("sns").create_topic(Name="alarms")
    cloud.client("ecr").create_repository(repositoryName="train/base")
    cloud.client("efs").create_file_system(CreationToken="home")
    cloud.client("budgets").create_budget(
        AccountId="111122223333",
        Budget={
            "BudgetName": "gpu",
            "BudgetType": "COST",
            "TimeUnit": "MONTHLY",
            "BudgetLimit": {"Amount": "100", "Unit": "USD"},
        },
    )
    cloud.client("cloudwatch").put_metric_alarm(
        AlarmName="idle",
        Namespace="GPU",
        MetricName="Use",
        Statistic="Average",
        Period=300,
        EvaluationPeriods=3,
        Threshold=5,
        ComparisonOperator="LessThanThreshold",
    )
    cloud.client("eks").create_cluster(
        name="ml", roleArn="arn:aws:iam::111122223333:role/control", resourcesVpcConfig={"subnetIds": subnets}
    )
    cloud.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1_200,
        SubnetIds=subnets[:1],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )
    return {"vpc": vpc, "key": key}


def look(cloud: Any, made: dict[str, Any]) -> dict[str, Any]:
    """Return what stands, by the services' own calls."""
    instance = cloud.client("ec2").describe_instances()["Reservations"][0]["Instances"][0]
    return {
        "vpcs": sorted(each["VpcId"] for each in cloud.client("ec2").describe_vpcs()["Vpcs"]),
        "instance": [instance["InstanceId"], instance["PrivateIpAddress"], instance["State"]["Name"]],
        "groups": cloud.client("ec2").describe_placement_groups()["PlacementGroups"],
        "role": cloud.client("iam").get_role(RoleName="control")["Role"]["Arn"],
        "key": cloud.client("kms").describe_key(KeyId=made["key"])["KeyMetadata"]["KeyState"],
        "object": cloud.client("s3").get_object(Bucket="checkpoints", Key="step-1")["Body"].read(),
        "log groups": [each["logGroupName"] for each in cloud.client("logs").describe_log_groups()["logGroups"]],
        "parameter": cloud.client("ssm").get_parameter(Name="/gpukit/zone")["Parameter"]["Value"],
        "topics": cloud.client("sns").list_topics()["Topics"],
        "repositories": [
            each["repositoryName"] for each in cloud.client("ecr").describe_repositories()["repositories"]
        ],
        "efs": [each["FileSystemId"] for each in cloud.client("efs").describe_file_systems()["FileSystems"]],
        "budgets": [
            each["BudgetName"] for each in cloud.client("budgets").describe_budgets(AccountId="111122223333")["Budgets"]
        ],
        "alarms": [each["AlarmName"] for each in cloud.client("cloudwatch").describe_alarms()["MetricAlarms"]],
        "cluster": cloud.client("eks").describe_cluster(name="ml")["cluster"]["endpoint"],
        "fsx": [each["FileSystemId"] for each in cloud.client("fsx").describe_file_systems()["FileSystems"]],
        "counts": cloud.ask("GET", "/world"),
    }


@pytest.mark.parametrize(
    "sign", [pytest.param(signal.SIGTERM, id="asked-to-end"), pytest.param(signal.SIGKILL, id="killed")]
)
def test_world_is_the_same_after_a_restart(own_cloud: Callable[[], Any], sign: int) -> None:
    cloud = own_cloud()
    cloud.start()
    made = build_a_bit_of_everything(cloud)
    if sign == signal.SIGKILL:
        wait_for_save(cloud)
    before = look(cloud, made)

    code = cloud.end(sign)
    cloud.start()

    assert code == (0 if sign == signal.SIGTERM else -signal.SIGKILL)
    assert look(cloud, made) == before


def test_killed_while_it_writes_keeps_the_older_world(own_cloud: Callable[[], Any]) -> None:
    cloud = own_cloud()
    cloud.start()
    cloud.client("ec2").create_placement_group(GroupName="old", Strategy="cluster")
    wait_for_save(cloud)
    (cloud.directory / ".world.pickle-half").write_bytes(b"half a world")

    cloud.end(signal.SIGKILL)
    cloud.start()

    assert [each["GroupName"] for each in cloud.client("ec2").describe_placement_groups()["PlacementGroups"]] == ["old"]


def test_ready_file_is_there_while_it_serves_and_gone_after(own_cloud: Callable[[], Any]) -> None:
    cloud = own_cloud()
    cloud.start()
    record = json.loads((cloud.directory / "cloud.json").read_text())

    cloud.end()

    assert (record["pid"], record["account"]) == (cloud.process.pid, "111122223333")
    assert not (cloud.directory / "cloud.json").exists()


@pytest.mark.slow
def test_process_stays_small_and_starts_fast(own_cloud: Callable[[], Any]) -> None:
    cloud = own_cloud()
    seconds = min(cloud.start() for _ in range(1))
    build_a_bit_of_everything(cloud)

    status = Path(f"/proc/{cloud.process.pid}/status").read_text()
    peak_mib = int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024

    assert peak_mib < 500
    # Three seconds on an idle machine; a machine that tests share is given four times as long.
    assert seconds < 3 * max(1.0, os.getloadavg()[0])


def wait_for_save(cloud: Any) -> None:
    """Change something, and wait until the world's file is newer than the change: that is what survives a kill."""
    cloud.client("logs").create_log_group(logGroupName="marker")
    changed, saved = time.time(), cloud.directory / "world.pickle"
    while not (saved.exists() and saved.stat().st_mtime > changed):
        assert time.time() - changed < 60 * SAVE_AFTER_SECONDS
        time.sleep(0.05)
