"""A real program, recorded in a process of its own: no engine, no cloud, no secret in the result."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli.preview import app

# each test runs whole processes
pytestmark = pytest.mark.slow

PROGRAM = """
import pulumi

config = pulumi.Config()

class Thing(pulumi.CustomResource):
    def __init__(self, token, name, props, opts=None):
        super().__init__(token, name, props, opts)

class Pool(pulumi.ComponentResource):
    def __init__(self, name):
        super().__init__("demo:index:Pool", name)

print("the program may print what it likes")
pool = Pool("train")
inside = pulumi.ResourceOptions(parent=pool)
subnet = Thing("aws:ec2/subnet:Subnet", "gpu-a", {"cidrBlock": config.require("cidr"), "vpcId": "vpc-1"}, inside)
Thing("aws:eks/nodeGroup:NodeGroup", "train-a", {
    "clusterName": "c",
    "subnetIds": [subnet.id],
    "scalingConfig": {"desiredSize": config.require_int("nodes"), "minSize": 0, "maxSize": 64},
    "labels": {"team": config.get("team") or "none"},
}, pulumi.ResourceOptions(parent=pool, protect=True))
Thing("aws:ssm/parameter:Parameter", "token", {"type": "SecureString", "value": config.require_secret("token")}, inside)
pulumi.export("totals", {"gpus": config.require_int("nodes") * 8, "nodes": config.require_int("nodes")})
pulumi.export("password", config.require_secret("token"))
"""


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments], cwd=folder, check=True,
                   capture_output=True)  # fmt: skip


def write_config(project: Path, **values: object) -> None:
    lines = [f"  demo:{key}: {json.dumps(value)}" for key, value in values.items()]
    (project / "Pulumi.dev.yaml").write_text("config:\n" + "\n".join(lines) + "\n")


CONFIG = {"cidr": "10.0.0.0/24", "nodes": 64, "token": {"secure": "v1:AAAAAAAAAAAAAAAA:BBBBBBBBBBBBBBBBBBBB"}}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "Pulumi.yaml").write_text("name: demo\nruntime: python\n")
    (tmp_path / "__main__.py").write_text(PROGRAM)
    write_config(tmp_path, **CONFIG)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    return tmp_path


def preview(project: Path, *arguments: str):
    return CliRunner().invoke(app, ["--cwd", str(project), "--stack", "dev", *arguments])


def test_a_first_preview_creates_everything_and_says_the_size(project: Path) -> None:
    result = preview(project)

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[:3] == [
        "Changes on dev",
        "  3 to create",
        "  GPUs 0 -> 512 · nodes 0 -> 64 · $/hour 0.00 -> ? · $/month 0 -> ? · kW 0.0 -> ? · kgCO2e/month 0 -> ?",
    ]


def test_a_change_against_a_revision_names_the_forcing_property_and_is_refused(project: Path) -> None:
    write_config(project, **{**CONFIG, "cidr": "10.0.1.0/24"})
    result = preview(project, "--base", "HEAD", "--fail-on", "replace")

    assert result.exit_code == 4
    assert result.stdout.startswith(
        'Refused on dev: gate replace: "gpu-a" (aws:ec2/subnet:Subnet) would be replaced, forced by cidrBlock'
    )
    assert "it is protected: the engine will refuse" in result.stdout


def test_a_change_of_the_program_itself_is_seen(project: Path) -> None:
    (project / "__main__.py").write_text(PROGRAM.replace('"minSize": 0', '"minSize": 1'))
    result = preview(project, "--base", "HEAD", "--json")

    report = json.loads(result.stdout)
    assert [(step["name"], step["action"]) for step in report["steps"]] == [("train-a", "update")]
    assert report["counts"]["unchanged"] == 2


def test_a_saved_recording_is_a_base_and_holds_no_secret(project: Path) -> None:
    saved = project / "base.json"
    assert preview(project, "--save", str(saved)).exit_code == 0
    assert "AAAAAAAA" not in saved.read_text()
    write_config(project, **{**CONFIG, "nodes": 32})
    result = preview(project, "--base-file", str(saved))

    assert "shrunk" in result.stdout
    assert "32 nodes drain" in result.stdout


def test_a_new_stack_is_created_against_a_base_without_it(project: Path) -> None:
    (project / "Pulumi.prod.yaml").write_text((project / "Pulumi.dev.yaml").read_text())
    result = CliRunner().invoke(app, ["--cwd", str(project), "--stack", "prod", "--base", "HEAD"])

    assert "3 to create" in result.stdout


def test_a_change_cannot_allow_itself(project: Path) -> None:
    write_config(project, **{**CONFIG, "cidr": "10.0.1.0/24"})
    (project / ".gpukit").mkdir()
    (project / ".gpukit" / "allow.yaml").write_text(
        'allow:\n  - {gate: replace, resource: "*Subnet gpu-a", reason: r, expires: 2026-12-31, approver: "@me"}\n'
        '  - {gate: replace, resource: "*NodeGroup train-a", reason: r, expires: 2026-12-31, approver: "@me"}\n'
    )
    (project / "CODEOWNERS").write_text("* @me\n")
    refused = preview(project, "--base", "HEAD", "--fail-on", "replace", "--today", "2026-12-01")
    git(project, "add", ".gpukit", "CODEOWNERS")
    git(project, "commit", "-qm", "allow")
    allowed = preview(project, "--base", "HEAD", "--fail-on", "replace", "--today", "2026-12-01")
    late = preview(project, "--base", "HEAD", "--fail-on", "replace", "--today", "2027-01-01")

    assert (refused.exit_code, allowed.exit_code, late.exit_code) == (4, 0, 4)
    assert "let through: replace" in allowed.stdout
    assert "expired on 2026-12-31" in late.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        pytest.param(("--base", "no-such-ref"), 2, "git knows no revision `no-such-ref`", id="unknown-revision"),
        pytest.param(("--base", "--upload-pack=x"), 2, "is no git revision", id="option-as-revision"),
        pytest.param(("--base-file", "nowhere.json"), 2, "there is no recording", id="no-recording"),
        pytest.param(("--fail-on", "repalce"), 2, "did you mean `replace`", id="mistyped-gate"),
        pytest.param(("--base", "HEAD", "--base-file", "x"), 2, "either --base or --base-file", id="two-bases"),
        pytest.param(("--format", "pdf"), 2, "--format is one of", id="format"),
    ],
)
def test_bad_usage_is_said_in_words(project: Path, arguments: tuple[str, ...], code: int, says: str) -> None:
    result = preview(project, *arguments)

    assert result.exit_code == code
    assert says in result.stderr
    assert "Traceback" not in result.output


def test_an_error_of_the_program_is_shown_with_its_place(project: Path) -> None:
    (project / "__main__.py").write_text("raise KeyError('what is missing')\n")
    result = preview(project)

    assert result.exit_code == 1
    assert "KeyError" in result.stderr
    assert "__main__.py:1" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_stack_without_file_lists_those_that_exist(project: Path) -> None:
    result = CliRunner().invoke(app, ["--cwd", str(project), "--stack", "prd"])

    assert result.exit_code == 2
    assert "there are: dev" in result.stderr


PROGRAM_WITHOUT_ORDER = """
import pulumi

class Thing(pulumi.CustomResource):
    pass

for name in {"alpha", "beta", "gamma", "delta", "epsilon", "zeta"}:
    Thing("aws:ec2/subnet:Subnet", name, {"cidrBlock": "10.0.0.0/24", "vpcId": "vpc-1"})
"""


@pytest.mark.parametrize("form", ["text", "json", "save"])
def test_two_runs_of_a_program_without_order_write_the_same_bytes(project: Path, form: str) -> None:
    (project / "__main__.py").write_text(PROGRAM_WITHOUT_ORDER)
    written = []
    for seed in ("1", "2"):
        saved = project / f"saved-{seed}.json"
        extra = {"text": [], "json": ["--json"], "save": ["--save", str(saved)]}[form]
        command = [sys.executable, "-m", "gpukit", "preview", "--cwd", str(project), "--stack", "dev", *extra]
        done = subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True)
        written.append(saved.read_bytes() if form == "save" else done.stdout)

    assert b"epsilon" in written[0] or form == "text"
    assert written[0] == written[1]
