"""Questions to an account: passed, failed, and unknown where nobody may ask; nothing is ever changed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from gpukit.plan import Plan
from gpukit.preflight.account import Account
from gpukit.preflight.policy import reading_actions, render_policy
from gpukit.preflight.probe import PreflightReport, ProbeResult, Verdict
from gpukit.preflight.run import render_report, render_report_json, run_preflight

PlanText = Callable[[str], Plan]
GPU_POOL = "region: us-east-1\npools:\n  train: {instance_type: p5en.48xlarge, nodes: 2, zones: [%s]}\n"
RESERVED = """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity:
      mode: %s
      reservations: [{id: cr-0123456789abcdef0, nodes: 4, availability_zone: us-east-1a}]
"""


def _of(report: PreflightReport, probe: str) -> list[ProbeResult]:
    return [result for result in report.results if result.probe == probe]


def _failed(report: PreflightReport) -> list[str]:
    return [f"{item.probe}: {item.answer}" for item in report.results if item.verdict is Verdict.FAIL]


def test_a_plan_that_can_be_built_passes_every_question(cloud: Any, account: Any, plan_text: PlanText) -> None:
    report = run_preflight(plan_text("preset: single-node\n"), account)

    assert report.account == "111122223333"
    assert {result.verdict for result in report.results} == {Verdict.PASS}
    assert {result.probe for result in report.results} == {"quota", "offering", "image", "launch"}


def test_nothing_is_changed_by_asking(cloud: Any, account: Any, plan_text: PlanText) -> None:
    before = cloud.ask("GET", "/world")
    run_preflight(plan_text("preset: multi-node\n"), account)

    assert cloud.ask("GET", "/world") == before


@pytest.mark.parametrize("operation", ["CreateVolume", "TerminateInstances", "RunInstances", "ModifyVpcAttribute"])
def test_a_changing_operation_never_leaves_the_machine(operation: str) -> None:
    with pytest.raises(ValueError, match="is no reading operation"):
        Account("us-east-1").ask("ec2", operation)


def test_a_launch_without_dry_run_never_leaves_the_machine() -> None:
    with pytest.raises(ValueError, match="is no reading operation"):
        Account("us-east-1").ask("ec2", "RunInstances", DryRun=False)


def test_a_quota_that_does_not_suffice_fails_with_its_code_and_the_way_to_raise_it(
    cloud: Any, account: Any, plan_text: PlanText
) -> None:
    """Public reports: aws-parallelcluster#1375, skypilot#502 and #1450."""
    cloud.ask("POST", "/quotas", {"code": "L-417A185B", "value": 200})
    report = run_preflight(plan_text(GPU_POOL % "us-east-1a"), account)
    (failed,) = [item for item in _of(report, "quota") if item.verdict is Verdict.FAIL]

    assert (failed.path, failed.answer) == ("limits.L-417A185B", "384 vCPUs are needed, and the account has 200")
    assert "L-417A185B" in failed.fix
    assert report.limits["L-417A185B"] == 200


def test_reserved_nodes_ask_for_no_vcpu_quota(cloud: Any, account: Any, plan_text: PlanText) -> None:
    """Public report: skypilot PR#3937."""
    cloud.ask("POST", "/quotas", {"code": "L-417A185B", "value": 0})
    report = run_preflight(plan_text(RESERVED % "reserved"), account)

    assert "limits.L-417A185B" not in {item.path for item in _of(report, "quota")}


def test_a_zone_that_does_not_offer_the_type_fails_with_those_that_do(
    cloud: Any, account: Any, plan_text: PlanText
) -> None:
    report = run_preflight(plan_text(GPU_POOL % "us-east-1b"), account)
    (failed,) = [item for item in _of(report, "offering") if item.verdict is Verdict.FAIL]

    assert failed.answer == "no; this account sees it in us-east-1a, us-east-1c"
    assert failed.fix == "use us-east-1a"


@pytest.mark.parametrize(
    ("mode", "seed", "answer"),
    [
        pytest.param("reserved", {}, None, id="fits"),
        pytest.param("capacity-block", {"capacity_block": True}, None, id="block-fits"),
        pytest.param("reserved", {"instances": 3}, "it holds 3 instances, and 4 are needed", id="too-small"),
        pytest.param(
            "reserved", {"instance_type": "p5.48xlarge"}, "it holds p5.48xlarge, not p5en.48xlarge", id="other-type"
        ),
        pytest.param(
            "reserved",
            {"availability_zone": "us-east-1c"},
            "it lives in us-east-1c, not in us-east-1a",
            id="other-zone",
        ),
        pytest.param(
            "reserved",
            {"platform": "Windows"},
            "its platform is Windows, and nodes run Linux/UNIX",
            id="other-platform",
        ),
        pytest.param(
            "reserved",
            {"capacity_block": True},
            "it is a Capacity Block, and the mode is reserved",
            id="a-block-is-no-reservation",
        ),
        pytest.param("reserved", None, "there is no such reservation in this account and region", id="does-not-exist"),
    ],
)
def test_a_reservation_is_held_against_what_the_pool_needs(
    mode: str, seed: dict[str, Any] | None, answer: str | None, cloud: Any, account: Any, plan_text: PlanText
) -> None:
    if seed is not None:
        base = {
            "id": "cr-0123456789abcdef0",
            "instance_type": "p5en.48xlarge",
            "instances": 4,
            "availability_zone": "us-east-1a",
        }
        cloud.ask("POST", "/reservations", base | seed)
    report = run_preflight(plan_text(RESERVED % mode), account)
    results = _of(report, "reservation")

    if answer is None:
        assert [item.verdict for item in results] == [Verdict.PASS]
        assert report.limits["cr-0123456789abcdef0"] == 4
    else:
        assert answer in [item.answer for item in results if item.verdict is Verdict.FAIL]


def test_an_image_that_cannot_be_seen_fails(cloud: Any, account: Any, plan_text: PlanText) -> None:
    text = "images: {own: {ami_id: ami-0123456789abcdef0}}\n" + (GPU_POOL % "us-east-1a").replace(
        "zones:", "image: own, zones:"
    )
    report = run_preflight(plan_text(text), account)
    (image,) = [item for item in _of(report, "image") if item.path == "images.own"]
    (launch,) = [item for item in _of(report, "launch") if item.path == "pools.train"]

    assert (image.verdict, image.answer) == (Verdict.FAIL, "ami-0123456789abcdef0 cannot be seen in us-east-1")
    assert (launch.verdict, launch.answer) == (Verdict.UNKNOWN, "its AMI is not known")


def test_a_launch_that_ec2_refuses_fails_with_its_code_and_a_fix(cloud: Any, account: Any, plan_text: PlanText) -> None:
    report = run_preflight(plan_text(GPU_POOL % "us-east-1b"), account)
    (launch,) = [item for item in _of(report, "launch") if item.path == "pools.train"]

    assert launch.verdict is Verdict.FAIL
    assert launch.answer.startswith("Unsupported: ")
    assert launch.fix == "use a zone that offers the type"


@pytest.mark.parametrize(
    ("action", "probe"),
    [
        pytest.param("ec2:DescribeInstanceTypeOfferings", "offering", id="offerings"),
        pytest.param("service-quotas:ListServiceQuotas", "quota", id="quotas"),
        pytest.param("ec2:DescribeImages", "image", id="images"),
        pytest.param("ec2:RunInstances", "launch", id="launches"),
    ],
)
def test_a_missing_permission_is_unknown_and_names_the_action(
    action: str, probe: str, cloud: Any, account: Any, plan_text: PlanText
) -> None:
    cloud.ask("POST", "/faults", {"deny": [{"action": action}]})
    results = _of(run_preflight(plan_text("preset: single-node\n"), account), probe)

    assert {item.verdict for item in results} == {Verdict.UNKNOWN}
    assert all(action in item.answer for item in results)


def test_throttled_calls_are_repeated_until_they_pass(cloud: Any, account: Any, plan_text: PlanText) -> None:
    cloud.ask(
        "POST", "/faults", {"throttle": [{"action": "ec2:DescribeInstanceTypeOfferings", "per_second": 0, "times": 2}]}
    )
    report = run_preflight(plan_text("preset: single-node\n"), account)

    assert [item.verdict for item in _of(report, "offering")] == [Verdict.PASS]


def test_an_api_that_stays_throttled_is_unknown_and_never_a_pass(cloud: Any, plan_text: PlanText) -> None:
    from gpukit.preflight.account import Refused
    from gpukit.preflight.capacity import ask_offerings

    cloud.ask("POST", "/faults", {"throttle": [{"action": "ec2:DescribeInstanceTypeOfferings", "per_second": 0}]})
    (result,) = ask_offerings(Account("us-east-1", attempts=2), plan_text("preset: single-node\n"))

    assert result.verdict is Verdict.UNKNOWN
    assert "RequestLimitExceeded" in result.answer
    assert issubclass(Refused, Exception)


def _network(cloud: Any, *, prefix: int, public: bool = False) -> tuple[str, str, str]:
    """Make a VPC with two subnets, one of them of the given size with a default route, and return the ids."""
    ec2 = cloud.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.5.0.0/16")["Vpc"]["VpcId"]
    for attribute in ("EnableDnsSupport", "EnableDnsHostnames"):
        ec2.modify_vpc_attribute(VpcId=vpc, **{attribute: {"Value": True}})
    first = ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.5.0.0/{prefix}", AvailabilityZone="us-east-1a")["Subnet"]
    second = ec2.create_subnet(VpcId=vpc, CidrBlock="10.5.128.0/20", AvailabilityZone="us-east-1b")["Subnet"]
    table = ec2.create_route_table(VpcId=vpc)["RouteTable"]["RouteTableId"]
    ec2.associate_route_table(RouteTableId=table, SubnetId=first["SubnetId"])
    if public:
        gateway = ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
        ec2.create_route(RouteTableId=table, DestinationCidrBlock="0.0.0.0/0", GatewayId=gateway)
    return vpc, first["SubnetId"], second["SubnetId"]


def _in_network(vpc: str, first: str, second: str) -> str:
    return (
        f"network:\n  existing:\n    vpc_id: {vpc}\n    subnets: {{us-east-1a: {first}, us-east-1b: {second}}}\n"
        + GPU_POOL % "us-east-1a"
    )


@pytest.mark.parametrize(
    ("prefix", "public", "expected"),
    [
        pytest.param(20, False, [], id="fits"),
        pytest.param(28, False, ["subnet: 11 are free, and 83 are needed"], id="too-small"),
        pytest.param(20, True, ["routes: it is public: several interfaces get no public address"], id="public"),
    ],
)
def test_an_existing_network_is_asked_for_room_and_for_a_private_way_out(
    prefix: int, public: bool, expected: list[str], cloud: Any, account: Any, plan_text: PlanText
) -> None:
    """Public reports: nvidia-terraform-modules PR#17 and terraform-aws-eks#3533."""
    report = run_preflight(plan_text(_in_network(*_network(cloud, prefix=prefix, public=public))), account)

    assert [item for item in _failed(report) if item.startswith(("subnet", "routes", "vpc"))] == expected


def test_an_existing_network_that_is_not_there_fails(cloud: Any, account: Any, plan_text: PlanText) -> None:
    text = _in_network("vpc-0123456789abcdef0", "subnet-0123456789abcdef0", "subnet-0123456789abcdef1")
    failed = _failed(run_preflight(plan_text(text), account))

    assert "vpc: there is no such VPC in this account and region" in failed
    assert failed.count("subnet: there is no such subnet") == 2


def test_the_launch_is_tried_with_the_real_interfaces_of_an_existing_network(
    cloud: Any, account: Any, plan_text: PlanText
) -> None:
    from gpukit.preflight.launch import launch_parameters

    plan = plan_text(_in_network(*_network(cloud, prefix=20)))
    group = plan.pools[0].node_groups[0]
    parameters = launch_parameters(plan, group, "ami-1")

    assert parameters["DryRun"] is True
    assert len(parameters["NetworkInterfaces"]) == len(group.network_interfaces)
    assert {item["InterfaceType"] for item in parameters["NetworkInterfaces"]} == {
        item.interface_type for item in group.network_interfaces
    }


def test_the_printed_policy_allows_what_is_asked_and_nothing_that_changes(
    cloud: Any, account: Any, plan_text: PlanText
) -> None:
    run_preflight(plan_text(_in_network(*_network(cloud, prefix=20))), account)
    run_preflight(plan_text(RESERVED % "reserved"), account)
    asked = {item.replace("service-quotas:", "servicequotas:") for item in account.asked}
    allowed = {action for statement in json.loads(render_policy())["Statement"] for action in statement["Action"]}

    assert asked - allowed == {"ec2:RunInstances"}
    assert set(reading_actions()) <= allowed
    assert all(action.partition(":")[2].startswith(("Describe", "Get", "List")) for action in allowed)


def test_what_preflight_read_can_be_fed_to_check(cloud: Any, account: Any, plan_text: PlanText, tmp_path: Path) -> None:
    from gpukit.cli import app

    report = run_preflight(plan_text("preset: multi-node\n"), account)
    file = tmp_path / "limits.json"
    file.write_text(render_report_json(report), encoding="utf-8")
    done = CliRunner().invoke(app, ["check", "--preset", "multi-node", "--limits", str(file), "--json"])
    codes = {finding["code"] for finding in json.loads(done.stdout)["findings"]}

    assert done.exit_code == 0
    assert "GK2042" not in codes


def test_the_text_names_failures_first_and_counts_all(cloud: Any, account: Any, plan_text: PlanText) -> None:
    text = render_report(run_preflight(plan_text(GPU_POOL % "us-east-1b"), account)).splitlines()

    assert text[0] == "account 111122223333, region us-east-1"
    assert text[1].startswith("fail ")
    assert text[-1].split(", ")[0].endswith(" pass")


def test_without_credentials_the_command_ends_with_3_and_says_what_to_do(
    cloud: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from gpukit.cli import app

    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    done = CliRunner().invoke(app, ["preflight", "--preset", "single-node"])

    assert done.exit_code == 3
    assert "cannot ask AWS" in done.stderr
