"""The pipeline of an image of one's own on the real engine: up, a version bump that changes what it must, destroy."""

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
import json, sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "components")!r}]
import pulumi
from gpukit_components import FrameworkImage

wish = json.loads(pulumi.Config().require("wish"))
image = FrameworkImage("train", wish)
pulumi.export("pipeline", image.pipeline_arn)
pulumi.export("repository", image.repository_url)
"""

PARENT = "amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260728"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    find_tool("pulumi")
    patch = pytest.MonkeyPatch()
    patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    box = Sandbox("image-build-test")
    box.up(with_kubernetes=False)
    project = tmp_path_factory.mktemp("project")
    (project / "Pulumi.yaml").write_text(
        f"name: image-build\nruntime:\n  name: python\n  options:\n    virtualenv: {Path(sys.prefix)}\n"
    )
    (project / "__main__.py").write_text(PROGRAM)
    try:
        engine = Engine(sandbox=box, project=project, stack="dev")
        engine.select()
        engine.run("config", "set", "--stack", engine.stack, "aws:region", "us-east-1", quiet=True)
        yield engine
    finally:
        box.down(purge=True)
        patch.undo()


class Wish:
    """What the program is told; the parent is looked up by its exact name."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def set(self, numpy: str) -> None:
        """Ask for one version of a package."""
        build = {"parent_image": PARENT, "packages": {"numpy": numpy}, "tags": {"team": "vision"}}
        wish = {"framework": "pytorch", "instance_type": "p5.48xlarge", "region": "us-east-1", "build": build}
        self.engine.run("config", "set", "--stack", self.engine.stack, "wish", json.dumps(wish), quiet=True)


@pytest.fixture(scope="module")
def wish(engine: Engine) -> Wish:
    return Wish(engine)


@pytest.fixture(scope="module")
def standing(engine: Engine, wish: Wish) -> dict[str, Any]:
    wish.set("2.2.6")
    engine.up()
    return engine.outputs()


def test_up_makes_a_pipeline_and_a_repository(standing: dict[str, Any]) -> None:
    assert ":image-pipeline/" in standing["pipeline"]
    assert standing["repository"].endswith("/gpukit/train")


def test_a_second_preview_shows_nothing(engine: Engine, standing: dict[str, Any]) -> None:
    steps = engine.preview_json()["changeSummary"]

    assert set(steps) == {"same"}


def test_a_package_bump_shows_exactly_what_changes(engine: Engine, wish: Wish, standing: dict[str, Any]) -> None:
    wish.set("2.3.1")
    steps = engine.preview_json()["steps"]
    wish.set("2.2.6")

    assert {(step["op"], step["urn"].rpartition("::")[2]) for step in steps if step["op"] != "same"} == {
        ("replace", "train-python"),
        ("replace", "train-recipe"),
        ("update", "train-pipeline"),
    }


def test_a_bump_goes_through_and_then_nothing_is_left_to_do(
    engine: Engine, wish: Wish, standing: dict[str, Any]
) -> None:
    wish.set("2.3.1")
    engine.up()

    assert set(engine.preview_json()["changeSummary"]) == {"same"}
    assert engine.outputs()["pipeline"] == standing["pipeline"]


def test_destroy_takes_everything_away(engine: Engine, standing: dict[str, Any]) -> None:
    engine.destroy()

    assert engine.outputs() == {}
