"""Processes of a sandbox: started with a log, waited for, ended by their own id."""

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from gpukit_sandbox import processes
from gpukit_sandbox.errors import PartFailed

SLEEPER = [sys.executable, "-c", "import time; print('here', flush=True); time.sleep(60)"]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "logs" / "part.log"


def start(log: Path, program: str) -> processes.Part:
    return processes.start_part("part", [sys.executable, "-c", program], log=log, environment=os.environ)


def test_a_part_runs_until_it_is_ended(log: Path) -> None:
    part = processes.start_part("part", SLEEPER, log=log, environment=os.environ)
    processes.wait_until_ready(part, lambda: "here" in log.read_text(), timeout_seconds=20)

    assert processes.is_running(part)
    processes.end_part(part)
    assert not processes.is_running(part)
    processes.end_part(part)


def test_one_that_ignores_the_polite_word_is_ended_all_the_same(log: Path) -> None:
    part = start(
        log,
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('here', flush=True); time.sleep(60)",
    )
    processes.wait_until_ready(part, lambda: "here" in log.read_text(), timeout_seconds=20)
    processes.end_part(part, patience_seconds=0.3)

    assert not processes.is_running(part)


def test_an_id_that_another_process_has_taken_is_left_alone(log: Path) -> None:
    part = processes.start_part("part", SLEEPER, log=log, environment=os.environ)
    stale = replace(part, started_at=part.started_at - 1)

    assert not processes.is_running(stale)
    processes.end_part(stale)
    assert processes.is_running(part)
    processes.end_part(part)


def test_a_part_that_ends_early_is_named_with_the_end_of_its_log(log: Path) -> None:
    part = start(log, "print('one'); print('no such module: moto'); raise SystemExit(1)")
    with pytest.raises(PartFailed) as failed:
        processes.wait_until_ready(part, lambda: False, timeout_seconds=20)

    assert "part ended before it was ready" in str(failed.value)
    assert "no such module: moto" in str(failed.value)
    assert str(log) in str(failed.value)


def test_a_part_that_is_not_ready_in_time_says_so(log: Path) -> None:
    part = processes.start_part("part", SLEEPER, log=log, environment=os.environ)
    with pytest.raises(PartFailed, match="was not ready within 0 s"):
        processes.wait_until_ready(part, lambda: False, timeout_seconds=0.2)
    processes.end_part(part)


def test_a_missing_executable_is_told(log: Path) -> None:
    with pytest.raises(PartFailed, match="part cannot be started"):
        processes.start_part("part", ["/no/such/program"], log=log, environment=os.environ)


def test_parts_end_in_reverse_order(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []
    monkeypatch.setattr(processes, "end_part", lambda part: ended.append(part.name))
    parts = [processes.Part(name=name, pid=1, started_at=1, log="") for name in ("etcd", "apiserver", "scheduler")]
    processes.end_parts(parts)

    assert ended == ["scheduler", "apiserver", "etcd"]


def test_a_record_survives_json() -> None:
    part = processes.Part(name="cloud", pid=12, started_at=34, log="/x")

    assert part == processes.part_from_json(part.to_json())


def test_a_free_port_accepts_nothing_yet() -> None:
    assert not processes.accepts_connections(processes.free_port())
