"""A whole stack with `build: true` on the real engine: up, each bump shows what it changes, destroy."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gpukit_sandbox.engine import Engine
from gpukit_sandbox.sandbox import Sandbox
from gpukit_sandbox.tools import find_tool

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = f"""\
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "components")!r}]
from gpukit_components import deploy
deploy()
"""

BUILT = {"build": True, "packages": {"numpy": "2.2.6"}}
RELEASE = "amazon-eks-node-al2023-x86_64-nvidia-1.36-v"


def pinned(ami_id: str) -> dict[str, Any]:
    """Return the image after a pull request that pins an AMI."""
    return {**BUILT, "ami_id": ami_id, "driver": "580.159.03"}


class Stack:
    """One stack whose image can be changed."""

    def __init__(self, engine: Engine, project: Path) -> None:
        self.engine, self.project = engine, project

    def write(self, image: dict[str, Any]) -> None:
        """Write the stack file with that image."""
        cluster = {
            "name": "vision",
            "budget": {"monthly_usd": 100_000, "notify": ["team@example.com"]},
            "images": {"pytorch": {"framework": "pytorch", **image}},
            "limits": {"L-DB2E81BA": 1000, "L-1216C47A": 1000},
            "pools": {
                "train": {"instance_type": "g6e.xlarge", "nodes": 1, "image": "pytorch"},
                "system": {"role": "system", "instance_type": "m7i.xlarge", "nodes": 2},
            },
        }
        file = self.project / f"Pulumi.{self.engine.stack}.yaml"
        kept = file.read_text().split("  gpukit:cluster")[0]
        file.write_text(f"{kept}  gpukit:cluster: {json.dumps(cluster)}\n")

    def ami(self, date: str) -> str:
        """Return the id of an AMI that the account can start; it stands for one that came out of a build."""
        import boto3

        ec2 = boto3.client(
            "ec2",
            region_name="us-east-1",
            endpoint_url=self.engine.sandbox.status()["endpoint"],
            aws_access_key_id="sandbox",
            aws_secret_access_key="sandbox",
        )
        (found,) = ec2.describe_images(Filters=[{"Name": "name", "Values": [RELEASE + date]}])["Images"]
        ami_id: str = found["ImageId"]
        return ami_id

    def changes(self) -> set[tuple[str, str]]:
        """Return operation and name of everything that a preview would change."""
        steps = self.engine.preview_json()["steps"]
        return {(step["op"], step["urn"].rpartition("::")[2]) for step in steps if step["op"] != "same"}


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    find_tool("pulumi")
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    box = Sandbox("built-image-test")
    box.up(with_kubernetes=False)
    project = tmp_path_factory.mktemp("project")
    (project / "Pulumi.yaml").write_text(
        f"name: built-image\nruntime:\n  name: python\n  options:\n    virtualenv: {Path(sys.prefix)}\n"
    )
    (project / "__main__.py").write_text(PROGRAM)
    try:
        engine = Engine(sandbox=box, project=project, stack="dev")
        engine.select()
        engine.run("config", "set", "--stack", engine.stack, "aws:region", "us-east-1", quiet=True)
        yield Stack(engine, project)
    finally:
        box.down(purge=True)
        patch.undo()


@pytest.fixture(scope="module")
def standing(stack: Stack) -> dict[str, Any]:
    stack.write(BUILT)
    stack.engine.up()
    return stack.engine.outputs()


def test_up_makes_a_pipeline_and_a_repository(standing: dict[str, Any]) -> None:
    assert standing["image_pipelines"]["pytorch"].endswith(":image-pipeline/gpukit-vision-dev-pytorch")
    assert standing["image_repositories"]["pytorch"].endswith("/gpukit/vision-dev-pytorch")


@pytest.mark.parametrize(
    ("image", "changes"),
    [
        pytest.param(BUILT, set(), id="nothing"),
        pytest.param(
            {**BUILT, "packages": {"numpy": "2.3.1"}},
            {("replace", "pytorch-python"), ("replace", "pytorch-recipe"), ("update", "pytorch-pipeline")},
            id="a package",
        ),
        pytest.param(
            pinned("ami-0123456789abcdef0"),
            # the launch template, and the node group: it leaves EKS's own AMI type
            {("update", "train-1"), ("replace", "train-1")},
            id="the built AMI for the first time",
        ),
    ],
)
def test_a_bump_shows_exactly_what_changes(
    stack: Stack, standing: dict[str, Any], image: dict[str, Any], changes: set[tuple[str, str]]
) -> None:
    stack.write(image)
    shown = stack.changes()
    stack.write(BUILT)

    assert shown == changes


def test_the_next_built_ami_rolls_the_nodes_and_replaces_no_group(stack: Stack, standing: dict[str, Any]) -> None:
    stack.write(pinned(stack.ami("20260714")))
    stack.engine.up()
    stack.write(pinned(stack.ami("20260728")))

    assert stack.changes() == {("update", "train-1")}


def test_destroy_takes_everything_away(stack: Stack, standing: dict[str, Any]) -> None:
    stack.engine.destroy()

    assert stack.engine.outputs() == {}
