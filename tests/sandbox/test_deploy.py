"""What `make up`, `make preview` and `make down` do around the engine, with an engine that only writes down what it is told."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gpukit_sandbox import deploy
from gpukit_sandbox.state import StateDirectory, state_directory
from gpukit_sandbox.summary import gpukit_command

ENGINE = """\
#!{python}
import json, os, pathlib, sys
arguments, here = sys.argv[1:], pathlib.Path.cwd()
log = pathlib.Path(os.environ["ENGINE_LOG"])
config = next((arguments[i + 1] for i, word in enumerate(arguments) if word == "--config-file"), None)
entry = {{"arguments": arguments, "cwd": str(here), "config": pathlib.Path(config).read_text() if config else None}}
log.write_text(log.read_text() + json.dumps(entry) + "\\n" if log.exists() else json.dumps(entry) + "\\n")
state = pathlib.Path(os.environ["ENGINE_STATE"])
def stand(count):
    state.parent.mkdir(parents=True, exist_ok=True)
    items = [{{"type": "pulumi:pulumi:Stack"}}, {{"type": "pulumi:providers:aws", "custom": True}}]
    protect = "protect: false" not in (entry["config"] or "") and arguments[0] == "up"
    data = {{"protect": protect, "retainOnDelete": protect, "urn": "urn:pulumi:dev::gpukit::aws:ec2/vpc:Vpc::data"}}
    items += [{{"type": "aws:ec2/vpc:Vpc", "custom": True, **data}}] * count
    state.write_text(json.dumps({{"checkpoint": {{"latest": {{"resources": items}}}}}}))
if arguments[:2] == ["stack", "select"]:
    (here / f"Pulumi.{{arguments[3]}}.yaml").write_text("encryptionsalt: v1:of-the-sandbox\\n")
    stand(0)
elif arguments[0] == "up":
    if os.environ.get("ENGINE_FAILS"):
        print("error: no capacity")
        if not state.exists() or os.environ["ENGINE_FAILS"] == "halfway":
            stand(1)
        sys.exit(255)
    stand(3)
elif arguments[0] in ("destroy", "preview") and os.environ.get("ENGINE_FAILS") == "always":
    sys.exit(255)
elif arguments[0] == "destroy":
    stand(0)
elif arguments[:2] == ["stack", "export"]:
    resources = json.loads(state.read_text())["checkpoint"]["latest"]["resources"]
    pathlib.Path(arguments[5]).write_text(json.dumps({{"version": 3, "deployment": {{"resources": resources}}}}))
elif arguments[:2] == ["stack", "import"]:
    resources = json.loads(pathlib.Path(arguments[5]).read_text())["deployment"]["resources"]
    state.write_text(json.dumps({{"checkpoint": {{"latest": {{"resources": resources}}}}}}))
    kept = [item for item in resources if item.get("protect") or item.get("retainOnDelete")]
    log.write_text(log.read_text() + json.dumps({{"arguments": ["kept", str(len(kept))]}}) + "\\n")
elif arguments[:2] == ["stack", "output"]:
    print(json.dumps({{"connect": "aws ssm start-session --target i-1"}}))
"""


class FakeSandbox:
    """A sandbox whose start and end are only counted."""

    def __init__(self, directory: StateDirectory, environment: dict[str, str]) -> None:
        self.name = "test"
        self.directory = directory
        self._environment = environment
        self.running = False
        self.life: list[str] = []

    def up(self, _progress: Any = None) -> dict[str, Any]:
        self.running = True
        self.life.append("up")
        return self.status()

    def down(self) -> None:
        self.running = False
        self.life.append("down")

    def status(self) -> dict[str, Any]:
        return {"running": self.running, "endpoint": "http://127.0.0.1:1"}

    def environment(self, *, progress: Any = None) -> dict[str, str]:
        return self._environment


class House:
    """A project with one stack, a sandbox, and what the engine was told."""

    def __init__(self, folder: Path, sandbox: FakeSandbox, log: Path) -> None:
        self.folder = folder
        self.sandbox = sandbox
        self.log = log
        self.stack_file = folder / "stacks" / "Pulumi.dev.yaml"

    def told(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def operations(self) -> list[str]:
        return [" ".join(entry["arguments"][:2]) for entry in self.told()]

    def run(self, command: str, stack: str = "dev") -> int:
        return deploy.main([command, stack, "--project", str(self.folder)])


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    folder = tmp_path / "project"
    (folder / "stacks").mkdir(parents=True)
    (folder / "Pulumi.yaml").write_text("name: gpukit\nruntime: python\nmain: stacks\nstackConfigDir: stacks\n")
    (folder / "stacks" / "Pulumi.dev.yaml").write_text(
        "# one GPU\nconfig:\n  aws:region: us-east-1\n  gpukit:preset: single-node\n"
    )
    engine = tmp_path / "bin" / "pulumi"
    engine.parent.mkdir()
    engine.write_text(ENGINE.format(python=sys.executable))
    engine.chmod(0o755)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    directory = state_directory("test")
    directory.make()
    log = tmp_path / "engine.log"
    environment = {
        "PATH": f"{engine.parent}{os.pathsep}{os.environ['PATH']}",
        "ENGINE_LOG": str(log),
        "ENGINE_STATE": str(directory.stacks / ".pulumi" / "stacks" / "gpukit" / "dev.json"),
    }
    monkeypatch.setenv("PATH", environment["PATH"])
    sandbox = FakeSandbox(directory, environment)
    monkeypatch.setattr(deploy, "Sandbox", lambda _name: sandbox)
    monkeypatch.setattr(deploy, "put_into_cloud", lambda _plan, _endpoint: [])
    return House(folder, sandbox, log)


def test_up_runs_the_engine_on_the_project_and_tells_what_stands(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    assert house.run("up") == 0
    told = capsys.readouterr()

    assert house.operations() == ["stack select", "up --yes", "stack output"]
    assert house.told()[1]["cwd"] == str(house.folder)
    assert "dev stands in the sandbox: 3 cloud resources (5 with components and providers) in" in told.out
    assert "1 x g5.xlarge" in told.out
    assert "aws ssm start-session --target i-1" in told.out
    next_commands = told.out.split("Next:")[1].strip().splitlines()
    assert [line.split("  ")[0] for line in map(str.strip, next_commands)] == [
        "make preview STACK=dev",
        f"{gpukit_command()} plan --stack dev",
        "make down STACK=dev",
    ]


def test_the_salt_stays_in_the_sandbox(house: House) -> None:
    before = house.stack_file.read_text()

    house.run("up")

    assert house.stack_file.read_text() == before
    assert house.told()[1]["config"] == f"encryptionsalt: v1:of-the-sandbox\n{before}"


def test_a_real_account_s_salt_is_not_carried_into_the_sandbox(house: House) -> None:
    house.stack_file.write_text("encryptionsalt: v1:of-a-real-account\n" + house.stack_file.read_text())

    house.run("up")

    assert "of-a-real-account" not in house.told()[1]["config"]


def test_the_second_up_keeps_the_salt_and_takes_the_changed_stack_file(house: House) -> None:
    house.run("up")
    house.stack_file.write_text(house.stack_file.read_text().replace("us-east-1", "us-west-2"))
    house.run("up")

    assert house.operations() == ["stack select", "up --yes", "stack output", "up --yes", "stack output"]
    config = house.told()[3]["config"]
    assert config.startswith("encryptionsalt: v1:of-the-sandbox\n")
    assert "us-west-2" in config


def test_preview_makes_nothing(house: House) -> None:
    assert house.run("preview") == 0

    assert house.operations() == ["stack select", "preview --suppress-progress"]


def test_a_mistake_starts_neither_sandbox_nor_engine(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    house.stack_file.write_text(house.stack_file.read_text() + "  gpukit:cluster:\n    pols: {}\n")

    assert house.run("up") == 2
    assert house.sandbox.life == []
    assert house.told() == []
    told = capsys.readouterr().err
    assert "pols" in told
    assert "did you mean" in told or "pools" in told


def test_an_unknown_stack_names_those_that_exist(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    assert house.run("up", "prod") == 2

    assert "fix:  use one of dev" in capsys.readouterr().err


@pytest.mark.parametrize("stack", ["../dev", "a/b", "", "x" * 101])
def test_a_stack_s_name_cannot_leave_its_folder(house: House, stack: str) -> None:
    assert house.run("up", stack) == 2
    assert house.told() == []


def test_a_folder_without_a_project_says_where_to_go(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert deploy.main(["up", "dev", "--project", str(tmp_path)]) == 2

    assert "there is no Pulumi.yaml here or above" in capsys.readouterr().err


def test_the_engine_s_failure_is_passed_on_with_the_way_to_go_on(
    house: House, capsys: pytest.CaptureFixture[str]
) -> None:
    house.sandbox._environment["ENGINE_FAILS"] = "1"

    assert house.run("up") == 255
    told = capsys.readouterr()
    assert "error: no capacity" in told.out
    assert "`make up STACK=dev` goes on from here" in told.err


def test_down_lifts_the_protection_then_destroys_then_ends_the_sandbox(house: House) -> None:
    house.run("up")
    assert house.run("down") == 0

    assert house.operations()[3:] == ["up --yes", "destroy --yes"]
    assert "protect: false" in house.told()[3]["config"]
    assert house.sandbox.life[-1] == "down"


def test_down_goes_on_where_a_stack_cannot_be_brought_up_whole(house: House) -> None:
    house.run("up")
    house.sandbox._environment["ENGINE_FAILS"] = "1"
    assert house.run("down") == 0

    assert house.operations()[3:] == ["up --yes", "stack export", "stack import", "kept 0", "destroy --yes"]


BROKEN_FILES = [
    pytest.param("\n  gpukit:cluster:\n    pols: {}\n", id="unknown-key"),
    pytest.param("\n  gpukit:preset: multi-node\n", id="duplicate-key"),
    pytest.param("\n  gpukit:cluster: {pools: {gpu: {instance_type: g5.xlrge}}}\n", id="mistyped-type"),
    pytest.param("\n  gpukit:cluster: {budget: {monthly_usd: 1}}\n", id="budget-below-the-cost"),
    pytest.param("\n: [\n", id="no-yaml"),
    pytest.param(None, id="gone"),
]


def _break(file: Path, more: str | None) -> None:
    if more is None:
        file.unlink()
    else:
        file.write_text(file.read_text().rstrip() + more)


@pytest.mark.parametrize("more", BROKEN_FILES)
def test_down_needs_no_stack_file_without_mistakes(
    house: House, more: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    house.run("up")
    good = house.stack_file.read_text()
    _break(house.stack_file, more)
    if more is not None:
        assert house.run("up") in (1, 2), "the file has a mistake that stops `up`"
    assert house.run("down") == 0

    assert house.operations()[3:] == ["up --yes", "destroy --yes"]
    assert house.told()[-1]["config"] == f"encryptionsalt: v1:of-the-sandbox\n{good}"
    told = capsys.readouterr().err
    assert "taking down what the last `make up` brought up" in told
    assert told.rstrip().endswith("dev is down: nothing of it is left")


@pytest.mark.parametrize("more", BROKEN_FILES)
def test_down_of_what_never_stood_whole_takes_the_protection_off_the_state(
    house: House, more: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    house.sandbox._environment["ENGINE_FAILS"] = "halfway"
    house.run("up")
    _break(house.stack_file, more)
    assert house.run("down") == 0

    assert house.operations()[2:] == ["stack export", "stack import", "kept 0", "destroy --yes"]
    assert capsys.readouterr().err.rstrip().endswith("dev is down: nothing of it is left")


def test_lifting_the_protection_prints_no_outputs(house: House) -> None:
    house.run("up")
    house.run("down")

    assert "--suppress-outputs" in house.told()[3]["arguments"]


@pytest.mark.parametrize(
    ("command", "words"),
    [
        pytest.param("preview", "nothing was changed: correct what it says above, then look again", id="preview"),
        pytest.param("down", "3 resources of dev still stand: `make down STACK=dev` goes on from here", id="down"),
    ],
)
def test_a_failure_is_told_in_the_words_of_its_command(
    house: House, command: str, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    house.run("up")
    house.sandbox._environment["ENGINE_FAILS"] = "always"

    assert house.run(command) == 255
    assert words in capsys.readouterr().err


def test_a_refused_preview_speaks_of_a_preview(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    _break(house.stack_file, "\n  gpukit:cluster:\n    pols: {}\n")

    assert house.run("preview") == 2
    assert "dev is not previewed: nothing was changed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("git", "command"),
    [
        pytest.param(True, "preview --stack dev --base HEAD", id="git"),
        pytest.param(False, "preview --stack dev", id="none"),
    ],
)
def test_a_preview_ends_with_the_next_step(
    house: House, git: bool, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if git:
        (house.folder / ".git").mkdir()

    house.run("preview")

    assert capsys.readouterr().err.rstrip().endswith(f"{gpukit_command()} {command}")


def test_down_without_protection_destroys_at_once(house: House) -> None:
    house.stack_file.write_text(house.stack_file.read_text() + "  gpukit:cluster:\n    protect: false\n")
    house.run("up")
    house.run("down")

    assert house.operations()[3:] == ["destroy --yes"]


def test_down_of_what_does_not_stand_asks_the_engine_nothing(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    assert house.run("down") == 0

    assert house.told() == []
    assert "does not stand" in capsys.readouterr().err


def _lock(house: House, pid: int) -> Path:
    folder = house.sandbox.directory.stacks / ".pulumi" / "locks" / "organization" / "gpukit" / "dev"
    folder.mkdir(parents=True)
    lock = folder / "lock.json"
    lock.write_text(json.dumps({"pid": pid}))
    return lock


def test_the_lock_of_a_killed_engine_is_taken_away(house: House) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    lock = _lock(house, process.pid)

    house.run("up")

    assert not lock.exists()


def test_the_lock_of_a_running_engine_stays(house: House) -> None:
    lock = _lock(house, os.getpid())

    house.run("up")

    assert lock.exists()
