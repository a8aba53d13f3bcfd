"""What `gpukit sandbox status`, `env` and `faults` tell, without starting anything."""

import json
from pathlib import Path
from typing import Any

import pytest
from gpukit_sandbox import cli
from gpukit_sandbox.sandbox import Sandbox
from gpukit_sandbox.state import write_json
from typer.testing import CliRunner

RUNNER = CliRunner()


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(variable, raising=False)
    return Sandbox("default")


def stand(box: Sandbox, stack: str, count: int) -> None:
    items: list[dict[str, Any]] = [{"type": "pulumi:pulumi:Stack"}, {"type": "pulumi:providers:aws", "custom": True}]
    items += [{"type": "gpukit:index:Network"}] + [{"type": "aws:ec2/vpc:Vpc", "custom": True}] * count
    write_json(
        box.directory.stacks / ".pulumi" / "stacks" / "gpukit" / f"{stack}.json",
        {"checkpoint": {"latest": {"resources": items}}},
    )


def test_status_tells_how_much_of_each_stack_stands(box: Sandbox) -> None:
    for stack, count in (("dev", 37), ("prod", 0), ("staging", 1)):
        stand(box, stack, count)

    lines = RUNNER.invoke(cli.app, ["status"]).stdout.splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines if line.startswith("stack")] == [
        "gpukit/dev, 37 resources",
        "gpukit/prod, 0 resources",
        "gpukit/staging, 1 resource",
    ]
    told = json.loads(RUNNER.invoke(cli.app, ["status", "--json"]).stdout)
    assert told["stacks"] == ["gpukit/dev", "gpukit/prod", "gpukit/staging"]
    assert told["resources"] == {"gpukit/dev": 37, "gpukit/prod": 0, "gpukit/staging": 1}


@pytest.mark.parametrize(
    ("stated", "world", "region"),
    [
        pytest.param({}, {}, "us-east-1", id="nothing-stands"),
        pytest.param({}, {"global": {"iam-roles": 1}, "us-west-2": {"vpcs": 1}}, "us-west-2", id="where-it-stands"),
        pytest.param({}, {"eu-west-1": {"vpcs": 1}, "us-west-2": {"vpcs": 1}}, "us-east-1", id="in-two-regions"),
        pytest.param({"AWS_REGION": "eu-west-1"}, {"us-west-2": {"vpcs": 1}}, "eu-west-1", id="the-user-s"),
        pytest.param({"AWS_DEFAULT_REGION": "eu-west-1"}, {}, "eu-west-1", id="the-user-s-default"),
    ],
)
def test_boto3_finds_a_region_in_the_environment(
    box: Sandbox, stated: dict[str, str], world: dict[str, Any], region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, value in stated.items():
        monkeypatch.setenv(variable, value)
    status = {"running": True, "endpoint": "http://127.0.0.1:1", "kubeconfig": "", "world": world}
    monkeypatch.setattr(Sandbox, "status", lambda self: status)
    monkeypatch.setattr("gpukit_sandbox.tools.find_tool", lambda name: Path("/bin/pulumi"))

    said = RUNNER.invoke(cli.app, ["env"]).stdout.splitlines()
    assert {f"export AWS_REGION={region}", f"export AWS_DEFAULT_REGION={region}"} <= set(said)


@pytest.mark.parametrize(
    ("rows", "words"),
    [pytest.param(1, "1 fault is on in sandbox", id="one"), pytest.param(2, "2 faults are on in sandbox", id="two")],
)
def test_faults_are_counted_in_words(box: Sandbox, rows: int, words: str) -> None:
    faults = {"slow": [{"action": "eks:*", "seconds": 1}] * rows}

    assert words in RUNNER.invoke(cli.app, ["faults", "set", json.dumps(faults)]).output
