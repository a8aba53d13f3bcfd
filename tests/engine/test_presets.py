"""
The main job on the real engine: each preset previewed, brought up, changed, found drifted, and taken down to nothing.

One sandbox a preset, in a directory of its own; the AWS double is asked by boto3, as any tool of AWS would ask.
"""

import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
import yaml
from gpukit_sandbox.bought import put_into_cloud
from gpukit_sandbox.engine import Engine
from gpukit_sandbox.sandbox import Sandbox

from gpukit.plan import Plan
from gpukit.planning import plan_from_mapping

pytestmark = [pytest.mark.engine, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
MOST_RESOURCES = 120
BLOCKS = [
    {"id": "cr-00000000000000a01", "nodes": 64, "availability_zone": "us-east-1a"},
    {"id": "cr-00000000000000a02", "nodes": 64, "availability_zone": "us-east-1a"},
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A preset, what a user changes later, and what somebody changes behind the stack's back."""

    preset: str
    cluster: dict[str, Any]
    change: dict[str, Any]
    changes: set[str]
    """Types that the change touches, in place."""
    drift_type: str


CASES = [
    Case(
        preset="single-node",
        cluster={},
        change={"budget": {"monthly_usd": 900}},
        changes={"aws:budgets/budget:Budget", "aws:cloudwatch/metricAlarm:MetricAlarm"},
        drift_type="aws:ec2/vpc:Vpc",
    ),
    Case(
        preset="multi-node",
        cluster={},
        change={"pools": {"system": {"nodes": 3}}},
        changes={"aws:eks/nodeGroup:NodeGroup"},
        drift_type="aws:ec2/vpc:Vpc",
    ),
    Case(
        preset="thousand-card",
        cluster={"pools": {"train": {"capacity": {"mode": "capacity-block", "reservations": BLOCKS}}}},
        change={"pools": {"train": {"labels": {"purpose": "pretraining"}}}},
        changes={"aws:eks/nodeGroup:NodeGroup"},
        drift_type="aws:ec2/vpc:Vpc",
    ),
]


class Standing:
    """A project of a user's own with one stack on a sandbox of its own."""

    def __init__(self, case: Case, folder: Path, sandbox: Sandbox) -> None:
        self.case = case
        self.folder = folder
        self.sandbox = sandbox
        self.cluster: dict[str, Any] = {"protect": False, "environment": "test", **case.cluster}
        self._write_project()
        self.engine = Engine(sandbox=sandbox, project=folder, stack="test")

    def _write_project(self) -> None:
        self.folder.mkdir(parents=True)
        shutil.copy(ROOT / "stacks" / "__main__.py", self.folder / "__main__.py")
        runtime = {"name": "python", "options": {"virtualenv": str(ROOT / ".venv")}}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump({"name": "presets", "runtime": runtime}))
        self.write_stack()

    def write_stack(self) -> None:
        """Write the stack file anew, keeping the sandbox's salt."""
        file = self.folder / "Pulumi.test.yaml"
        known = yaml.safe_load(file.read_text()) if file.exists() else {}
        known["config"] = {
            "aws:region": "us-east-1",
            "gpukit:preset": self.case.preset,
            "gpukit:cluster": self.cluster,
        }
        file.write_text(yaml.safe_dump(known))

    def plan(self) -> Plan:
        """The plan of the stack file as it is now."""
        result = plan_from_mapping(self.cluster, preset=self.case.preset, region="us-east-1")
        assert result.plan is not None, result.findings
        return result.plan

    def resources(self) -> list[dict[str, Any]]:
        """What the engine's state holds."""
        text = self.engine.run("stack", "export", "--stack", "test", quiet=True)
        found: list[dict[str, Any]] = json.loads(text)["deployment"].get("resources", [])
        return found

    def client(self, service: str) -> Any:
        """boto3 at the double."""
        return boto3.client(
            service,
            region_name="us-east-1",
            endpoint_url=self.sandbox.status()["endpoint"],
            aws_access_key_id="sandbox",
            aws_secret_access_key="sandbox",
        )

    def steps(self) -> dict[str, list[str]]:
        """Operation -> types, of a preview."""
        found: dict[str, list[str]] = {}
        for step in self.engine.preview_json()["steps"]:
            if step["op"] != "same":
                found.setdefault(step["op"], []).append(step["urn"].split("::")[2].split("$")[-1])
        return found


@pytest.fixture(scope="module", params=CASES, ids=lambda case: case.preset)
def standing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    case: Case = request.param
    folder = tmp_path_factory.mktemp(case.preset)
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    sandbox = Sandbox(f"presets-{case.preset}")
    try:
        status = sandbox.up()
        stack = Standing(case, folder / "project", sandbox)
        put_into_cloud(stack.plan(), status["endpoint"])
        stack.engine.select()
        yield stack
    finally:
        sandbox.down(purge=True)
        if before is None:
            os.environ.pop("XDG_STATE_HOME", None)
        else:
            os.environ["XDG_STATE_HOME"] = before


def test_1_preview_creates_and_nothing_else(standing: Standing) -> None:
    assert set(standing.steps()) == {"create"}


def test_2_up_makes_what_the_plan_says_within_the_bound(standing: Standing) -> None:
    standing.engine.up()

    resources = standing.resources()
    assert len(resources) <= MOST_RESOURCES
    plan = standing.plan()
    totals = standing.engine.outputs()["totals"]
    assert totals["gpus"] == plan.totals.gpus
    made = [item for item in resources if item["type"] == "aws:eks/nodeGroup:NodeGroup"]
    assert len(made) == (sum(len(pool.node_groups) for pool in plan.all_pools) if plan.kubernetes else 0)


def test_3_instances_stand_in_aws_without_a_public_address(standing: Standing) -> None:
    plan = standing.plan()
    pages = standing.client("ec2").get_paginator("describe_instances").paginate()
    instances = [
        instance
        for page in pages
        for reservation in page["Reservations"]
        for instance in reservation["Instances"]
        if instance["State"]["Name"] == "running"
    ]

    assert len(instances) == sum(pool.nodes for pool in plan.all_pools)
    assert not [instance["PublicIpAddress"] for instance in instances if instance.get("PublicIpAddress")]


def test_4_security_groups_in_aws_let_nobody_in_from_the_internet(standing: Standing) -> None:
    groups = standing.client("ec2").describe_security_groups()["SecurityGroups"]
    mine = [
        group for group in groups if {"Key": "gpukit:stack", "Value": standing.plan().name} in group.get("Tags", [])
    ]

    assert mine
    for group in mine:
        for rule in group["IpPermissions"]:
            assert "0.0.0.0/0" not in [block["CidrIp"] for block in rule["IpRanges"]], group["GroupName"]


def test_5_second_preview_is_empty(standing: Standing) -> None:
    assert standing.steps() == {}


def test_6_change_of_the_stack_file_touches_only_what_it_must(standing: Standing) -> None:
    from gpukit.spec.merge import merge_mappings

    standing.cluster = merge_mappings(standing.cluster, standing.case.change)
    standing.write_stack()

    steps = standing.steps()
    assert set(steps) == {"update"}
    touched = {kind for kind in steps["update"] if kind.startswith("aws:")}
    assert touched == standing.case.changes
    standing.engine.up()


def test_7_refresh_finds_what_somebody_changed_and_up_puts_it_right(standing: Standing) -> None:
    """After the change, nothing but the drift is left to do."""
    ec2 = standing.client("ec2")
    (vpc,) = [item["id"] for item in standing.resources() if item["type"] == standing.case.drift_type]
    ec2.create_tags(Resources=[vpc], Tags=[{"Key": "gpukit:environment", "Value": "theirs"}])

    said = standing.engine.refresh("--diff")
    assert "theirs" in said
    assert standing.steps() == {"update": [standing.case.drift_type]}

    standing.engine.up()
    tags = ec2.describe_tags(Filters=[{"Name": "resource-id", "Values": [vpc]}])["Tags"]
    assert {tag["Value"] for tag in tags if tag["Key"] == "gpukit:environment"} == {"test"}


def test_8_destroy_leaves_nothing(standing: Standing) -> None:
    name = standing.plan().name
    standing.engine.destroy()

    assert [item["type"] for item in standing.resources()] in ([], ["pulumi:pulumi:Stack"])
    left = standing.client("resourcegroupstaggingapi").get_resources(
        TagFilters=[{"Key": "gpukit:stack", "Values": [name]}]
    )["ResourceTagMappingList"]
    assert [item["ResourceARN"] for item in left if not _is_leaving(item["ResourceARN"])] == []
    ec2 = standing.client("ec2")
    vpcs = ec2.describe_vpcs(Filters=[{"Name": "tag:gpukit:stack", "Values": [name]}])["Vpcs"]
    assert vpcs == []


def test_9_mistakes_are_all_told_and_nothing_is_created(standing: Standing) -> None:
    pool = next(iter(standing.plan().pools)).name
    standing.cluster = {
        **standing.cluster,
        "enviroment": "prod",
        "pools": {pool: {"instance_type": "p5.49xlarge", "nodes": 1.5}},
        "budget": {"monthly_usd": "much"},
    }
    standing.write_stack()

    process = standing.engine.start("up", "--yes", "--skip-preview", "--stack", "test")
    said, _ = process.communicate(timeout=300)

    assert process.returncode != 0
    for path in ("enviroment", f"pools.{pool}.instance_type", f"pools.{pool}.nodes", "budget.monthly_usd"):
        assert f" {path}: " in said, said
    assert "Pulumi.test.yaml:" in said
    assert "Traceback" not in said
    assert [item["type"] for item in standing.resources()] in ([], ["pulumi:pulumi:Stack"])


def _is_leaving(arn: str) -> bool:
    # a key waits 7 to 30 days; an ended instance and a deleted NAT gateway are listed for an hour
    return bool(re.match(r"arn:aws:(kms:[^:]+:\d+:key|ec2:[^:]+:\d+:(instance|natgateway))/", arn))
