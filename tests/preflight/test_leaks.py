"""After a destroy: what still carries the stack's tags is listed, what bills first, and a look that failed is no clean one."""

from typing import Any

import pytest
from typer.testing import CliRunner

from gpukit.leaks.render import render_sweep
from gpukit.leaks.sweep import reading_actions, sweep

MINE = [
    {"Key": "gpukit:stack", "Value": "vision"},
    {"Key": "gpukit:environment", "Value": "dev"},
    {"Key": "Name", "Value": "left"},
]
THEIRS = [{"Key": "gpukit:stack", "Value": "speech"}]


def _tagged(kind: str, tags: list[dict[str, str]]) -> list[dict[str, Any]]:
    return [{"ResourceType": kind, "Tags": tags}]


def test_an_account_without_the_stack_is_clean(cloud: Any, account: Any) -> None:
    found = sweep(account, stack="vision", environment="dev")

    assert (found.leftovers, found.not_asked) == ((), ())
    assert render_sweep(found) == "nothing is left of `vision` in us-east-1\n"


def test_what_carries_the_tags_is_listed_and_what_bills_comes_first(cloud: Any, account: Any) -> None:
    """Public reports: dstack#3449, karpenter#5582, cluster-toolkit#376."""
    ec2 = cloud.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.7.0.0/16", TagSpecifications=_tagged("vpc", MINE))["Vpc"]["VpcId"]
    for tags in (MINE, THEIRS):
        ec2.create_volume(AvailabilityZone="us-east-1a", Size=10, TagSpecifications=_tagged("volume", tags))
    ec2.allocate_address(Domain="vpc", TagSpecifications=_tagged("elastic-ip", MINE))
    found = sweep(account, stack="vision", environment="dev")

    assert [(item.kind, item.costs) for item in found.leftovers] == [
        ("EBS volume", True),
        ("Elastic IP", True),
        ("VPC", False),
    ]
    assert found.leftovers[-1].id == vpc
    assert render_sweep(found).splitlines()[-1] == "3 left of `vision` in us-east-1, 2 of them bill"


def test_a_bucket_of_the_stack_is_found_and_others_are_not(cloud: Any, account: Any) -> None:
    s3 = cloud.client("s3")
    for name, tags in (("vision-data", MINE), ("speech-data", THEIRS), ("plain-data", None)):
        s3.create_bucket(Bucket=name)
        if tags:
            s3.put_bucket_tagging(Bucket=name, Tagging={"TagSet": tags})
    found = sweep(account, stack="vision")

    assert [(item.kind, item.id) for item in found.leftovers] == [("S3 bucket", "vision-data")]


def test_a_service_that_may_not_be_asked_is_told_and_is_no_clean_sweep(cloud: Any, account: Any) -> None:
    from gpukit.cli import app

    cloud.ask("POST", "/faults", {"deny": [{"action": "ec2:DescribeVolumes"}]})
    found = sweep(account, stack="vision")
    done = CliRunner().invoke(app, ["leaks", "--name", "vision", "--region", "us-east-1"])

    assert found.not_asked == (("ec2:DescribeVolumes", "not allowed"),)
    assert done.exit_code == 1
    assert "could not be looked at" in done.stdout


@pytest.mark.parametrize(("left", "code"), [pytest.param(True, 1, id="left"), pytest.param(False, 0, id="clean")])
def test_the_exit_code_tells_whether_anything_is_left(left: bool, code: int, cloud: Any) -> None:
    from gpukit.cli import app

    if left:
        cloud.client("ec2").create_volume(
            AvailabilityZone="us-east-1a", Size=10, TagSpecifications=_tagged("volume", MINE)
        )
    done = CliRunner().invoke(app, ["leaks", "--name", "vision", "--region", "us-east-1"])

    assert done.exit_code == code


def test_every_action_of_a_sweep_is_in_the_printed_policy(cloud: Any, account: Any) -> None:
    sweep(account, stack="vision")
    spelled = {
        item.replace("efs:", "elasticfilesystem:")
        .replace("s3:ListBuckets", "s3:ListAllMyBuckets")
        .replace("resourcegroupstaggingapi:", "tag:")
        for item in account.asked
    }

    assert spelled - set(reading_actions()) == set()


def test_interfaces_that_the_cluster_left_are_found_by_its_name(cloud: Any, account: Any) -> None:
    """Public report: terraform-aws-eks#1267, a leaked interface blocks the security group."""
    ec2 = cloud.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.8.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.8.0.0/24", AvailabilityZone="us-east-1a")["Subnet"]["SubnetId"]
    tags = [{"Key": "cluster.k8s.amazonaws.com/name", "Value": "vision-dev"}]
    ec2.create_network_interface(SubnetId=subnet, TagSpecifications=_tagged("network-interface", tags))
    found = sweep(account, stack="vision", environment="dev")

    assert [(item.kind, item.note) for item in found.leftovers] == [("network interface", "made by the cluster")]


def test_kinds_nobody_thinks_of_are_found_by_the_tagging_api(cloud: Any, account: Any) -> None:
    cloud.client("kms").create_key(Tags=[{"TagKey": item["Key"], "TagValue": item["Value"]} for item in MINE])
    found = sweep(account, stack="vision", environment="dev")

    assert [(item.kind, item.costs) for item in found.leftovers] == [("kms resource", True)]
