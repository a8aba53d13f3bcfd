"""The drill itself: a small preset from nothing to nothing, and what happens when a part is killed in the middle."""

import json
import os
import signal
from pathlib import Path

import pytest
from gpukit_sandbox import processes
from gpukit_sandbox.drill.run import run_drill
from gpukit_sandbox.processes import Part, part_from_json
from gpukit_sandbox.state import sandboxes_directory

pytestmark = [pytest.mark.cluster, pytest.mark.engine, pytest.mark.slow]

STEPS = [
    "sandbox and control plane",
    "pulumi up",
    "nodes join",
    "queues",
    "job over 16 GPUs",
    "second team queued",
    "second team borrows",
    "owner takes back by preemption",
    "a node fails",
    "the node is back",
    "16-GPU job on one leaf of the network",
    "pulumi destroy",
    "leak audit",
    "sandbox down",
]


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_a_small_preset_comes_up_works_and_leaves_nothing(tmp_path: Path) -> None:
    said: list[str] = []
    record = run_drill("multi-node", gpus=16, say=said.append)

    assert record.broken == "", record.why
    assert [step.name for step in record.steps] == STEPS
    assert record.numbers["peak_memory_mib"] < 4096
    assert [len(picture.hosts) for picture in record.pictures] == [2] * 5
    assert list(sandboxes_directory().iterdir()) == []
    json.dumps(record.to_json())


@pytest.mark.parametrize("victim", ["kueue", "etcd"])
def test_a_part_killed_in_the_middle_is_named_and_everything_is_ended(victim: str) -> None:
    seen: list[Part] = []

    def say(line: str) -> None:
        if line.startswith("nodes join:"):
            (box,) = sandboxes_directory().iterdir()
            parts = json.loads((box / "sandbox.json").read_text(encoding="utf-8"))["parts"]
            seen.extend(map(part_from_json, parts))
            os.kill(next(part.pid for part in seen if part.name == victim), signal.SIGKILL)

    record = run_drill("multi-node", gpus=16, say=say)

    assert f"{victim} ended by itself" in record.broken
    assert record.exit_code == 3
    assert not any(map(processes.is_running, seen))
    assert list(sandboxes_directory().iterdir()) == []
