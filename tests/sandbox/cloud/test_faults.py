"""Faults that are switched on strike as AWS would, and only there."""

from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError


def refusal(call: Any) -> str:
    """Return the code of the refusal that a call gets."""
    with pytest.raises(ClientError) as found:
        call()
    return str(found.value.response["Error"]["Code"])


def test_rate_is_held_and_the_service_words_it(cloud: Any) -> None:
    cloud.ask("POST", "/faults", {"throttle": [{"action": "ec2:Describe*", "per_second": 0.001, "burst": 2}]})
    ec2 = cloud.client("ec2")
    ec2.describe_vpcs()
    ec2.describe_vpcs()

    assert refusal(ec2.describe_vpcs) == "RequestLimitExceeded"
    ec2.create_placement_group(GroupName="free", Strategy="cluster")


@pytest.mark.parametrize(
    ("service", "operation", "code"),
    [
        pytest.param("ec2", "describe_vpcs", "UnauthorizedOperation", id="ec2"),
        pytest.param("iam", "list_roles", "AccessDenied", id="iam"),
        pytest.param("eks", "list_clusters", "AccessDeniedException", id="eks"),
        pytest.param("s3", "list_buckets", "AccessDenied", id="s3"),
        pytest.param("fsx", "describe_file_systems", "AccessDeniedException", id="fsx"),
    ],
)
def test_denied_action_is_refused_in_the_words_of_its_service(
    cloud: Any, service: str, operation: str, code: str
) -> None:
    cloud.ask("POST", "/faults", {"deny": [{"action": f"{service}:*"}]})

    assert refusal(getattr(cloud.client(service), operation)) == code


def test_zone_without_capacity_refuses_on_demand_and_lets_a_reservation_through(cloud: Any) -> None:
    ec2 = cloud.client("ec2")
    image = ec2.describe_images(Owners=["amazon"], Filters=[{"Name": "architecture", "Values": ["x86_64"]}])["Images"][
        0
    ]["ImageId"]
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24", AvailabilityZone="us-east-1a")["Subnet"]["SubnetId"]
    cloud.ask(
        "POST",
        "/reservations",
        {
            "id": "cr-0123456789abcdef0",
            "instance_type": "p5.48xlarge",
            "instances": 1,
            "availability_zone": "us-east-1a",
        },
    )
    cloud.ask("POST", "/faults", {"capacity": [{"instance_type": "p5.*", "zone": "us-east-1a", "available": 0}]})
    wanted = {"ImageId": image, "InstanceType": "p5.48xlarge", "MinCount": 1, "MaxCount": 1, "SubnetId": subnet}

    assert refusal(lambda: ec2.run_instances(**wanted)) == "InsufficientInstanceCapacity"
    target = {"CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}}
    launched = ec2.run_instances(**wanted, CapacityReservationSpecification=target)["Instances"][0]
    assert launched["CapacityReservationId"] == "cr-0123456789abcdef0"
    assert (
        refusal(lambda: ec2.run_instances(**wanted, CapacityReservationSpecification=target))
        == "ReservationCapacityExceeded"
    )


def test_dry_run_answers_as_the_launch_would_but_launches_nothing(cloud: Any) -> None:
    ec2 = cloud.client("ec2")
    image = ec2.describe_images(Owners=["amazon"], Filters=[{"Name": "architecture", "Values": ["x86_64"]}])["Images"][
        0
    ]["ImageId"]
    wanted = {"ImageId": image, "MinCount": 1, "MaxCount": 1, "DryRun": True}

    assert refusal(lambda: ec2.run_instances(InstanceType="g5.xlarge", **wanted)) == "DryRunOperation"
    assert refusal(lambda: ec2.run_instances(InstanceType="g5.seven", **wanted)) == "InvalidParameterValue"
    assert ec2.describe_instances()["Reservations"] == []


@pytest.mark.parametrize(
    ("when", "made"),
    [pytest.param("before", 0, id="before-the-effect"), pytest.param("after", 1, id="after-the-effect")],
)
def test_lost_connection_leaves_the_caller_without_an_answer(cloud: Any, when: str, made: int) -> None:
    cloud.ask("POST", "/faults", {"drop": [{"action": "ec2:CreatePlacementGroup", "when": when, "times": 1}]})
    ec2 = cloud.client("ec2")

    with pytest.raises(ConnectionClosedError):
        ec2.create_placement_group(GroupName="lost", Strategy="cluster")

    assert len(ec2.describe_placement_groups()["PlacementGroups"]) == made


def test_slow_creation_stays_in_its_making(cloud: Any) -> None:
    cloud.ask("POST", "/faults", {"slow": [{"action": "fsx:CreateFileSystem", "what": "creation", "seconds": 600}]})
    ec2, fsx = cloud.client("ec2"), cloud.client("fsx")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]

    made = fsx.create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1_200,
        SubnetIds=[subnet],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )

    assert (
        fsx.describe_file_systems(FileSystemIds=[made["FileSystem"]["FileSystemId"]])["FileSystems"][0]["Lifecycle"]
        == "CREATING"
    )


def test_error_strikes_as_often_as_told(cloud: Any) -> None:
    cloud.ask(
        "POST",
        "/faults",
        {"error": [{"action": "eks:ListClusters", "code": "ServerException", "status": 500, "times": 1}]},
    )
    eks = cloud.client("eks")

    assert refusal(eks.list_clusters) == "ServerException"
    assert eks.list_clusters()["clusters"] == []


def test_unknown_kind_of_fault_is_refused(cloud: Any) -> None:
    with pytest.raises(ValueError, match="unknown kind of fault: earthquake"):
        cloud.ask("POST", "/faults", {"earthquake": []})


def test_action_that_is_not_modelled_fails_aloud(cloud: Any) -> None:
    assert refusal(lambda: cloud.client("eks").list_insights(clusterName="ml")) in (
        "NotImplemented",
        "ResourceNotFoundException",
    )
    assert refusal(lambda: cloud.client("ec2").describe_ipv6_pools()) == "NotImplemented"
