"""`make up`, `make preview` and `make down` of the smallest stack, on the real engine, as whole processes."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from gpukit_sandbox.sandbox import Sandbox
from gpukit_sandbox.tools import find_tool

ROOT = Path(__file__).resolve().parents[2]
STACK_FILE = ROOT / "stacks" / "Pulumi.dev.yaml"
BEFORE = STACK_FILE.read_text(encoding="utf-8")

pytestmark = pytest.mark.engine


class Make:
    """What make calls, in a sandbox that only this module uses."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment

    def run(self, command: str) -> str:
        """Return all that was said; a failure shows it."""
        done = subprocess.run(
            [sys.executable, "-m", "gpukit_sandbox.deploy", command, "dev"],
            cwd=ROOT,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    find_tool("pulumi")
    state = tmp_path_factory.mktemp("state")
    return Make({**os.environ, "XDG_STATE_HOME": str(state), "GPUKIT_SANDBOX": "make-test"})


@pytest.fixture(scope="module")
def standing(make: Make) -> str:
    """What the first `make up` said."""
    return make.run("up")


def test_up_ends_with_what_stands_and_three_commands(standing: str) -> None:
    summary = standing[standing.index("dev stands in the sandbox") :]

    assert "1 x g5.xlarge" in summary
    assert "connect      aws ssm start-session" in summary
    created = re.search(r"\+ (\d+) created", standing)
    assert created is not None
    assert f"cloud resources ({created.group(1)} with components and providers)" in summary
    assert summary.count("STACK=dev") == 2
    assert "gpukit plan --stack dev" in summary


def test_up_tells_nothing_of_where_plugins_lie(standing: str) -> None:
    assert "from $PATH" not in standing
    assert "Permalink" not in standing


def test_a_second_up_changes_nothing(make: Make, standing: str) -> None:
    said = make.run("up")

    assert "created" not in said.split("Resources:")[1].split("Duration")[0]
    assert "dev stands in the sandbox" in said


def test_a_preview_of_what_stands_shows_no_change(make: Make, standing: str) -> None:
    said = make.run("preview")

    resources = said.split("Resources:")[1]
    assert "unchanged" in resources
    assert not [word for word in ("to create", "to update", "to replace", "to delete") if word in resources]
    assert "preview --stack dev" in said.splitlines()[-1]


def test_a_literal_pulumi_command_leaves_no_salt_in_the_stack_file(
    make: Make, standing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", make.environment["XDG_STATE_HOME"])
    command = ["pulumi", "preview", "--stack", "dev", "--non-interactive", "--expect-no-changes"]

    assert Sandbox("make-test").run(command, cwd=ROOT) == 0
    assert STACK_FILE.read_text(encoding="utf-8") == BEFORE


def test_the_stack_file_stays_as_people_wrote_it(make: Make, standing: str) -> None:
    assert STACK_FILE.read_text(encoding="utf-8") == BEFORE


def test_down_takes_everything_away_and_ends_the_sandbox(
    make: Make, standing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = make.run("down")

    assert "deleted" in said
    assert "stack rm" not in said
    assert "Outputs:" not in said
    assert said.splitlines()[-1] == "==> dev is down: nothing of it is left"
    assert "no stack stands any more" in said
    monkeypatch.setenv("XDG_STATE_HOME", make.environment["XDG_STATE_HOME"])
    assert Sandbox("make-test").status()["running"] is False


def test_down_twice_is_no_mistake(make: Make) -> None:
    assert "nothing to take down" in make.run("down")
