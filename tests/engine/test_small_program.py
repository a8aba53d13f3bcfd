"""A small program on the real engine: the whole life of a stack in the sandbox, and what happens when somebody or something breaks it off."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from gpukit_sandbox import tools
from gpukit_sandbox.engine import Engine, EngineFailed
from gpukit_sandbox.sandbox import Sandbox
from gpukit_sandbox.state import write_json

pytestmark = [pytest.mark.engine, pytest.mark.slow]

REGION = "us-east-1"
PROGRAM = """
import pulumi
import pulumi_aws as aws

config = pulumi.Config()
vpc = aws.ec2.Vpc("net", cidr_block=config.get("cidr") or "10.0.0.0/16", enable_dns_hostnames=True, tags={"Name": "net"})
subnet = aws.ec2.Subnet(
    "sub", vpc_id=vpc.id, cidr_block=config.get("subnet") or "10.0.1.0/24", availability_zone="us-east-1a", tags={"Name": config.get("label") or "sub"}
)
group = aws.ec2.SecurityGroup(
    "group", vpc_id=vpc.id, description="small",
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]}],
)
image = aws.ec2.get_ami(most_recent=True, owners=["amazon"])
instance = aws.ec2.Instance(
    "machine", ami=image.id, instance_type=config.get("type") or "t3.micro", subnet_id=subnet.id, vpc_security_group_ids=[group.id],
    root_block_device={"volume_size": 40, "volume_type": "gp3", "encrypted": True},
    metadata_options={"http_tokens": "required", "http_endpoint": "enabled"}, tags={"Name": "machine"},
)
for number in range(int(config.get("more") or 0)):
    aws.ec2.SecurityGroup(f"more-{number}", vpc_id=vpc.id, description="small")
    aws.ec2.Subnet(f"more-{number}", vpc_id=vpc.id, cidr_block=f"10.0.{100 + number}.0/24", tags={"Name": f"more-{number}"})
pulumi.export("vpc", vpc.id)
pulumi.export("subnet", subnet.id)
pulumi.export("instance", instance.id)
pulumi.export("zones", aws.get_availability_zones(state="available").names)
"""


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One sandbox for the module, in a state directory of its own; the tool cache is the user's."""
    if tools.installed_tool("pulumi") is None:
        pytest.skip("the engine is not built yet: run `gpukit sandbox up`")
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    sandbox = Sandbox("small")
    sandbox.up()
    yield sandbox
    sandbox.down(purge=True)
    patch.undo()


@pytest.fixture
def engine(box: Sandbox, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """A project with a stack of its own, destroyed afterwards."""
    yield from _engine(box, tmp_path, PROGRAM, request.node.name)


def _engine(box: Sandbox, folder: Path, program: str, name: str) -> Iterator[Engine]:
    project = folder / "project"
    project.mkdir()
    (project / "Pulumi.yaml").write_text("name: small\nruntime: python\n", encoding="utf-8")
    (project / "__main__.py").write_text(program, encoding="utf-8")
    stack = "".join(c if c.isalnum() else "-" for c in name)[:60].strip("-")
    (project / f"Pulumi.{stack}.yaml").write_text(f"config:\n  aws:region: {REGION}\n", encoding="utf-8")
    engine = Engine(sandbox=box, project=project, stack=stack)
    engine.select()
    yield engine
    faults(box, {})
    engine.destroy()


def faults(box: Sandbox, wanted: dict[str, Any]) -> None:
    write_json(box.directory.cloud / "faults.json", wanted)


def client(box: Sandbox, service: str = "ec2") -> Any:
    from gpukit_sandbox.provider.clients import Clients

    return Clients(box.status()["endpoint"]).client(service, REGION)


def changes(engine: Engine) -> dict[str, list[str]]:
    """Operation -> names of what a preview would touch, without what stays."""
    found: dict[str, list[str]] = {}
    for step in engine.preview_json()["steps"]:
        if step["op"] != "same" and "pulumi:pulumi:Stack" not in step["urn"]:
            found.setdefault(step["op"], []).append(step["urn"].rsplit("::", 1)[-1])
    return {op: sorted(names) for op, names in found.items()}


def test_preview_up_and_second_preview_is_empty(engine: Engine, box: Sandbox) -> None:
    assert changes(engine) == {"create": ["group", "machine", "net", "sub"]}
    engine.up()
    outputs = engine.outputs()

    assert changes(engine) == {}
    assert client(box).describe_vpcs(VpcIds=[outputs["vpc"]])["Vpcs"][0]["State"] == "available"
    assert "us-east-1a" in outputs["zones"]


def test_our_own_output_does_not_tell_where_plugins_lie(engine: Engine) -> None:
    words = engine.up()

    assert "using pulumi-" not in words
    assert "4 created" in words or "5 created" in words


def test_update_in_place_keeps_the_id(engine: Engine, box: Sandbox) -> None:
    engine.up()
    before = engine.outputs()
    engine.config = {"label": "renamed", "type": "t3.large"}

    assert changes(engine) == {"update": ["machine", "sub"]}
    engine.up()
    assert before == engine.outputs()
    instance = client(box).describe_instances(InstanceIds=[before["instance"]])["Reservations"][0]["Instances"][0]
    assert instance["InstanceType"] == "t3.large"
    assert client(box).describe_subnets(SubnetIds=[before["subnet"]])["Subnets"][0]["Tags"] == [
        {"Key": "Name", "Value": "renamed"}
    ]


def test_replace_says_which_property_and_makes_a_new_one(engine: Engine, box: Sandbox) -> None:
    engine.up()
    before = engine.outputs()
    engine.config = {"subnet": "10.0.2.0/24"}
    steps = {s["urn"].rsplit("::", 1)[-1]: s for s in engine.preview_json()["steps"] if s["op"] == "replace"}

    assert sorted(steps) == ["machine", "sub"]
    assert steps["sub"]["replaceReasons"] == ["cidrBlock"]
    assert steps["machine"]["replaceReasons"] == ["subnetId"]
    engine.up()
    assert before["subnet"] != engine.outputs()["subnet"]
    gone = client(box).describe_subnets(Filters=[{"Name": "subnet-id", "Values": [before["subnet"]]}])["Subnets"]
    assert gone == []


def test_refresh_finds_what_was_changed_by_hand(engine: Engine, box: Sandbox) -> None:
    engine.up()
    outputs = engine.outputs()
    ec2 = client(box)
    ec2.create_tags(
        Resources=[outputs["subnet"]], Tags=[{"Key": "Name", "Value": "by hand"}, {"Key": "owner", "Value": "nobody"}]
    )
    ec2.modify_vpc_attribute(VpcId=outputs["vpc"], EnableDnsHostnames={"Value": False})

    words = engine.refresh()

    assert "2 updated" in words
    assert changes(engine) == {"update": ["net", "sub"]}
    engine.up()
    assert ec2.describe_subnets(SubnetIds=[outputs["subnet"]])["Subnets"][0]["Tags"] == [
        {"Key": "Name", "Value": "sub"}
    ]
    assert ec2.describe_vpc_attribute(VpcId=outputs["vpc"], Attribute="enableDnsHostnames")["EnableDnsHostnames"][
        "Value"
    ]


def test_refresh_without_drift_changes_nothing(engine: Engine) -> None:
    engine.up()

    words = engine.refresh()

    assert "5 unchanged" in words
    assert changes(engine) == {}


def test_what_vanished_is_made_again(engine: Engine, box: Sandbox) -> None:
    engine.up()
    before = engine.outputs()
    client(box).terminate_instances(InstanceIds=[before["instance"]])

    engine.refresh()

    assert changes(engine) == {"create": ["machine"]}
    engine.up()
    assert before["instance"] != engine.outputs()["instance"]


def test_import_takes_over_what_stands(box: Sandbox, tmp_path: Path) -> None:
    ec2 = client(box)
    vpc = ec2.create_vpc(
        CidrBlock="10.9.0.0/16", TagSpecifications=[{"ResourceType": "vpc", "Tags": [{"Key": "Name", "Value": "old"}]}]
    )["Vpc"]["VpcId"]
    program = f"""
import pulumi, pulumi_aws as aws
vpc = aws.ec2.Vpc("old", cidr_block="10.9.0.0/16", tags={{"Name": "old"}}, opts=pulumi.ResourceOptions(import_="{vpc}"))
pulumi.export("vpc", vpc.id)
"""
    for engine in _engine(box, tmp_path, program, "import"):
        assert changes(engine) == {"import": ["old"]}
        engine.up()
        assert vpc == engine.outputs()["vpc"]
        assert changes(engine) == {}
    assert ec2.describe_vpcs(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Vpcs"] == []


def test_destroy_leaves_nothing(engine: Engine, box: Sandbox) -> None:
    engine.up()
    outputs = engine.outputs()
    engine.destroy()

    ec2 = client(box)
    assert ec2.describe_vpcs(Filters=[{"Name": "vpc-id", "Values": [outputs["vpc"]]}])["Vpcs"] == []
    states = [
        i["State"]["Name"]
        for r in ec2.describe_instances()["Reservations"]
        for i in r["Instances"]
        if i["InstanceId"] == outputs["instance"]
    ]
    assert states in ([], ["terminated"])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        pytest.param('aws.ec2.Vpc("v", opts=None, **{"cidr_block": "10.0.0.0/16"})\nR("aws:ec2/vpc:Vpc", "w", {"cidrBlok": "x"})',
                     "an unexpected argument 'cidrBlok' was provided, did you mean 'cidrBlock'?", id="misspelt"),
        pytest.param('R("aws:ec2/launchTemplate:LaunchTemplate", "w", {"metadataOptions": {"httpToken": "required"}})',
                     "an unexpected argument 'httpToken' was provided, did you mean 'httpTokens'?", id="misspelt-inside"),
        pytest.param('R("aws:ec2/subnet:Subnet", "w", {"cidrBlock": "10.0.0.0/24"})', "missing required property 'vpcId'", id="missing"),
        pytest.param('R("aws:ec2/flowLog:FlowLog", "w", {"trafficType": "ALL"})', "exactly one of vpcId, subnetId, eniId must be stated", id="rule"),
        pytest.param('R("aws:lambda/function:Function", "w", {})', "does not model the resource type aws:lambda/function:Function", id="unknown-type"),
    ],
)  # fmt: skip
def test_an_input_that_the_type_does_not_have_is_refused_in_the_preview(
    box: Sandbox, tmp_path: Path, line: str, told: str
) -> None:
    program = f"""
import pulumi, pulumi_aws as aws
class R(pulumi.CustomResource):
    def __init__(self, token, name, props):
        super().__init__(token, name, props)
{line}
"""
    for engine in _engine(box, tmp_path, program, f"refused-{tmp_path.name}"):
        with pytest.raises(EngineFailed) as failed:
            engine.preview()

        assert told in failed.value.tail


def test_an_endpoint_that_is_not_this_machine_is_refused(engine: Engine) -> None:
    engine.environment = {"AWS_ENDPOINT_URL": "https://ec2.us-east-1.amazonaws.com"}

    with pytest.raises(EngineFailed) as failed:
        engine.preview()

    assert "'https://ec2.us-east-1.amazonaws.com' is not on this machine" in failed.value.tail
    engine.environment = {}


def test_awss_own_refusal_is_told_with_its_code(box: Sandbox, tmp_path: Path) -> None:
    program = """
import pulumi_aws as aws
vpc = aws.ec2.Vpc("net", cidr_block="10.0.0.0/16")
aws.ec2.Subnet("outside", vpc_id=vpc.id, cidr_block="192.168.0.0/24")
"""
    for engine in _engine(box, tmp_path, program, "told"):
        with pytest.raises(EngineFailed) as failed:
            engine.up()

        assert "InvalidSubnet.Range" in failed.value.tail
        assert "Traceback" not in failed.value.tail


# Broken off in the middle

MORE = 8


def _start_slowly(engine: Engine, box: Sandbox) -> "subprocess.Popen[str]":
    """Start an `up` whose creations take half a second each, and return it once the first further ones are under way."""
    engine.config = {"more": str(MORE)}
    faults(box, {"slow": [{"action": "ec2:CreateS*", "seconds": 0.7}]})
    process = engine.start(
        "up", "--yes", "--skip-preview", "--stack", engine.stack, "--config", f"more={MORE}", "--parallel", "4"
    )
    assert process.stdout is not None
    for line in process.stdout:
        if "more-" in line and "creating" in line:
            return process
    pytest.fail("the up ended before it was broken off")


def _wait(process: "subprocess.Popen[str]") -> tuple[int, str]:
    assert process.stdout is not None
    words = process.stdout.read()
    return process.wait(timeout=60), words


def _standing(box: Sandbox, vpc: str) -> tuple[int, int]:
    """Subnets and security groups (without AWS's own default) of a VPC."""
    ec2 = client(box)
    here = [{"Name": "vpc-id", "Values": [vpc]}]
    groups = [g for g in ec2.describe_security_groups(Filters=here)["SecurityGroups"] if g["GroupName"] != "default"]
    return len(ec2.describe_subnets(Filters=here)["Subnets"]), len(groups)


def _interrupt(engine: Engine, process: "subprocess.Popen[str]", box: Sandbox) -> None:
    process.send_signal(signal.SIGINT)


def _interrupt_twice(engine: Engine, process: "subprocess.Popen[str]", box: Sandbox) -> None:
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)


def _kill_provider(engine: Engine, process: "subprocess.Popen[str]", box: Sandbox) -> None:
    for pid in _children_of(process.pid, "pulumi-resource-aws"):
        os.kill(pid, signal.SIGKILL)


def _kill_engine(engine: Engine, process: "subprocess.Popen[str]", box: Sandbox) -> None:
    plugins = _children_of(process.pid, "pulumi-")
    process.kill()
    for pid in plugins:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize(
    "break_off",
    [
        pytest.param(_interrupt, id="ctrl-c"),
        pytest.param(_interrupt_twice, id="ctrl-c-twice"),
        pytest.param(_kill_provider, id="provider-killed"),
        pytest.param(_kill_engine, id="engine-killed"),
    ],
)
def test_the_next_up_finishes_one_that_was_broken_off(
    engine: Engine, box: Sandbox, break_off: Callable[[Engine, "subprocess.Popen[str]", Sandbox], None]
) -> None:
    process = _start_slowly(engine, box)
    break_off(engine, process, box)
    status, _words = _wait(process)
    faults(box, {})

    assert status != 0
    engine.up()
    assert changes(engine) == {}
    assert _standing(box, engine.outputs()["vpc"]) == (MORE + 1, MORE + 1)


def test_ctrl_c_is_quiet(engine: Engine, box: Sandbox) -> None:
    process = _start_slowly(engine, box)
    process.send_signal(signal.SIGINT)
    _status, words = _wait(process)

    assert "Traceback" not in words
    assert "KeyboardInterrupt" not in words


def test_a_throttled_cloud_is_asked_again(engine: Engine, box: Sandbox) -> None:
    faults(box, {"throttle": [{"action": "ec2:*", "per_second": 20, "burst": 5}]})
    engine.up()

    faults(box, {})
    assert changes(engine) == {}


def test_two_sandboxes_do_not_see_each_other(box: Sandbox) -> None:
    other = Sandbox("other")
    other.up()
    try:
        assert other.status()["endpoint"] != box.status()["endpoint"]
        vpc = client(other).create_vpc(CidrBlock="10.77.0.0/16")["Vpc"]["VpcId"]
        assert client(box).describe_vpcs(Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Vpcs"] == []
    finally:
        other.down(purge=True)
    assert not other.directory.root.exists()


def _children_of(pid: int, name: str) -> list[int]:
    """Processes below one that this test started whose command holds a name."""
    parents: dict[int, int] = {}
    commands: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text(encoding="utf-8")
                commands[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            parents[int(entry.name)] = int(stat[stat.rindex(")") + 2 :].split()[1])

    def is_below(child: int) -> bool:
        while child in parents and child > 1:
            if child == pid:
                return True
            child = parents[child]
        return False

    return [child for child in parents if child != pid and is_below(child) and name in commands[child]]


def test_outputs_are_json(engine: Engine) -> None:
    engine.up()

    assert json.dumps(engine.outputs())
