"""The sample jobs run on a CPU with small data: preprocess, train, kill, resume, evaluate."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
JOBS = ROOT / "gpukit" / "images" / "jobs"

SMALL = ["--batch", "8", "--context", "32", "--width", "32", "--layers", "2", "--heads", "2"]
MODEL = SMALL[2:]


def python_with(module: str) -> str:
    """Return an interpreter that has the framework: this one, or one named in GPUKIT_TEST_PYTHON_<MODULE>."""
    other = os.environ.get(f"GPUKIT_TEST_PYTHON_{module.upper()}")
    if other:
        return other
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{module} is not installed: its wheels are some gigabytes, so it is no test dependency")
    return sys.executable


def environment(**more: str) -> dict[str, str]:
    base = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/tmp"), "PYTHONPATH": str(ROOT / "runtime")}
    return base | {"OMP_NUM_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "2", "CUDA_VISIBLE_DEVICES": ""} | more


@pytest.fixture
def data(tmp_path) -> Path:
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(40):
        sentence = f"node {number} joins the ring and sends what it has to the next one. "
        (texts / f"{number:03d}.txt").write_text(sentence * 20)
    command = [sys.executable, JOBS / "preprocess.py", "--input", texts, "--output", tmp_path / "data"]
    subprocess.run([*command, "--shard-tokens", "10000", "--validation-pct", "20"], check=True, env=environment())
    return tmp_path / "data"


def test_preprocess_makes_the_same_shards_again_and_holds_some_out(data, tmp_path) -> None:
    again = tmp_path / "again"
    command = [sys.executable, JOBS / "preprocess.py", "--input", tmp_path / "texts", "--output", again]
    subprocess.run([*command, "--shard-tokens", "10000", "--validation-pct", "20"], check=True, env=environment())

    names = {str(path.relative_to(data)): path.read_bytes() for path in data.rglob("*") if path.is_file()}
    assert names == {str(path.relative_to(again)): path.read_bytes() for path in again.rglob("*") if path.is_file()}
    assert {name.partition("/")[0] for name in names} == {"train", "validation"}
    assert not [name for name in names if name.endswith(".new")]


def test_preprocess_workers_share_the_files_without_overlap(tmp_path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    for number in range(10):
        (texts / f"{number}.txt").write_text(f"{number}" * 5)
    for index in range(3):
        command = [sys.executable, JOBS / "preprocess.py", "--input", texts, "--output", tmp_path / "data"]
        subprocess.run(
            [*command, "--validation-pct", "0"],
            check=True,
            env=environment(JOB_COMPLETION_INDEX=str(index), JOB_COMPLETIONS="3"),
        )
    tokens = [
        shard["tokens"]
        for path in (tmp_path / "data/train").glob("index-*.json")
        for shard in json.loads(path.read_text())
    ]

    assert sum(tokens) == 10 * 6


def torchrun(python: str, data: Path, checkpoints: Path, *, ranks: int, steps: int, more: tuple[str, ...] = ()):
    return [
        python, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={ranks}", str(JOBS / "train_fsdp.py"),
        "--data", str(data), "--checkpoints", str(checkpoints), "--steps", str(steps), "--checkpoint-steps", "4",
        *SMALL, *more,
    ]  # fmt: skip


def events(text: str) -> list[dict]:
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def losses(text: str) -> dict[int, float]:
    return {item["step"]: item["loss"] for item in events(text) if item["event"] == "step"}


def run(command) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment(), check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2])
def test_training_killed_and_resumed_has_the_loss_of_one_that_was_not(data, tmp_path, ranks) -> None:
    python = python_with("torch")
    whole = losses(run(torchrun(python, data, tmp_path / "whole", ranks=ranks, steps=12)))

    killed = subprocess.Popen(
        torchrun(python, data, tmp_path / "cut", ranks=ranks, steps=12, more=("--pause", "0.2")),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    first: list[str] = []
    assert killed.stdout is not None
    for line in killed.stdout:
        first.append(line)
        if '"event": "step", "step": 6' in line:
            # The launcher and its workers at once, as a node that loses its power.
            for process in (killed.pid, *_children(killed.pid)):
                os.kill(process, signal.SIGKILL)
            break
    killed.wait(timeout=60)
    second = run(torchrun(python, data, tmp_path / "cut", ranks=ranks, steps=12))

    assert events(second)[0]["step"] == 4, "it goes on from the newest whole checkpoint"
    assert sorted(whole) == list(range(1, 13))
    assert losses(second) == pytest.approx({step: loss for step, loss in whole.items() if step > 4}, rel=1e-6)
    assert whole[12] < whole[1]


@pytest.mark.slow
def test_a_run_may_go_on_with_another_number_of_ranks(data, tmp_path) -> None:
    python = python_with("torch")
    whole = losses(run(torchrun(python, data, tmp_path / "whole", ranks=1, steps=8)))
    run(torchrun(python, data, tmp_path / "moved", ranks=2, steps=4))
    rest = losses(run(torchrun(python, data, tmp_path / "moved", ranks=1, steps=8)))

    assert rest == pytest.approx({step: loss for step, loss in whole.items() if step > 4}, rel=1e-3)


@pytest.mark.slow
def test_sigterm_makes_one_more_checkpoint_and_ends_well(data, tmp_path) -> None:
    python = python_with("torch")
    process = subprocess.Popen(
        torchrun(python, data, tmp_path / "spot", ranks=1, steps=500, more=("--pause", "0.1")),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    seen: list[str] = []
    assert process.stdout is not None
    for line in process.stdout:
        seen.append(line)
        if '"event": "step", "step": 2' in line:
            os.kill(_children(process.pid)[0], signal.SIGTERM)
        if '"event": "stopped"' in line:
            break
    process.wait(timeout=60)

    stopped = events("".join(seen))[-1]
    assert process.returncode == 0
    assert stopped["event"] == "stopped"
    assert (tmp_path / "spot" / f"step-{stopped['step']:08d}").is_dir()


def _children(parent: int) -> list[int]:
    """Return the processes right below torchrun: one for each rank."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(status[1]) == parent:
                found.append(int(folder.name))
    assert found, "torchrun has no worker"
    return found


@pytest.mark.slow
def test_a_half_written_checkpoint_is_never_read(data, tmp_path) -> None:
    python = python_with("torch")
    run(torchrun(python, data, tmp_path / "c", ranks=1, steps=4))
    (tmp_path / "c" / "step-00000008.new").mkdir()

    assert events(run(torchrun(python, data, tmp_path / "c", ranks=1, steps=5)))[0]["step"] == 4


@pytest.mark.slow
def test_evaluation_reads_the_newest_checkpoint_and_judges_it(data, tmp_path) -> None:
    python = python_with("torch")
    run(torchrun(python, data, tmp_path / "c", ranks=2, steps=12))
    command = [python, JOBS / "evaluate.py", "--data", data, "--checkpoints", tmp_path / "c", "--windows", "16", *MODEL]

    told = json.loads(run(command))
    strict = subprocess.run([*command, "--below", "0.01"], env=environment(), check=False, capture_output=True)

    assert told["checkpoint"] == "step-00000012"
    assert 1.0 < told["loss"] < 6.0
    assert strict.returncode == 1


@pytest.mark.slow
def test_tensorflow_workers_train_together_and_resume_by_epoch(data, tmp_path) -> None:
    python = python_with("tensorflow")

    def start(epochs: int, folder: str) -> list[str]:
        hosts = ",".join(f"127.0.0.1:{port}" for port in _free_ports(2))
        command = [python, JOBS / "train_multiworker.py", "--data", data, "--checkpoints", tmp_path / folder]
        command += ["--epochs", str(epochs), "--steps", "4", "--batch", "8", "--context", "32", "--width", "16"]
        workers = [
            subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(JOB_COMPLETION_INDEX=str(index), GPUKIT_HOSTS=hosts),
            )
            for index in range(2)
        ]
        outputs = [worker.communicate(timeout=240) for worker in workers]
        assert [worker.returncode for worker in workers] == [0, 0], outputs[0][1][-2000:]
        return [out for out, _ in outputs]

    whole = events(start(3, "whole")[0])
    events(start(2, "cut")[0])
    rest = events(start(3, "cut")[0])

    assert [item["epoch"] for item in whole] == [1, 2, 3]
    assert [item["epoch"] for item in rest] == [3]
    assert rest[0]["loss"] == pytest.approx(whole[2]["loss"], rel=1e-5)
    assert whole[2]["loss"] < whole[0]["loss"]


def _free_ports(count: int) -> list[int]:
    import socket

    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
