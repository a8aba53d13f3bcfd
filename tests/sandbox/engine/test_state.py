"""The sandbox's directory: names, atomic files, isolation."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from gpukit_sandbox.errors import UnknownName
from gpukit_sandbox.sandbox import Sandbox
from gpukit_sandbox.state import counted_by_engine, made_in_cloud, read_json, state_directory, write_json


def test_the_state_lies_where_xdg_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    assert tmp_path / "gpukit" / "sandboxes" / "ci" == state_directory("ci").root


def test_without_xdg_it_lies_in_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    assert tmp_path / ".local" / "state" / "gpukit" / "sandboxes" / "default" == state_directory().root


@pytest.mark.parametrize("name", ["..", "a/b", "", "-x", "UP", "x" * 33, "a b", "x-"])
def test_a_name_that_could_leave_its_place_is_refused(name: str) -> None:
    with pytest.raises(UnknownName) as refused:
        state_directory(name)

    assert refused.value.exit_code == 2


def test_a_written_file_reads_back_and_leaves_no_scratch(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.json"
    write_json(path, {"b": 1, "a": [True]})
    write_json(path, {"a": 2})

    assert read_json(path) == {"a": 2}
    assert [p.name for p in path.parent.iterdir()] == ["state.json"]


@pytest.mark.parametrize("text", ["", "{", "[1]", "null"])
def test_an_unreadable_file_is_an_empty_state(tmp_path: Path, text: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)

    assert read_json(path) == {}


def test_a_value_that_is_no_json_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    write_json(path, {"a": 1})
    with pytest.raises(TypeError):
        write_json(path, {"a": object()})

    assert read_json(path) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["state.json"]


def test_the_lock_of_a_killed_engine_goes_and_that_of_a_living_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    box = Sandbox("locks")
    locks = box.directory.stacks / ".pulumi" / "locks" / "organization" / "project"
    engine = subprocess.Popen(["/bin/sh", "-c", "exec -a pulumi sleep 30"], executable="/bin/bash")
    try:
        deadline = time.monotonic() + 10
        while (
            not Path(f"/proc/{engine.pid}/cmdline").read_bytes().startswith(b"pulumi") and time.monotonic() < deadline
        ):
            time.sleep(0.02)
        write_json(locks / "dead" / "1.json", {"pid": os.getpid()})
        write_json(locks / "alive" / "1.json", {"pid": engine.pid})

        assert box.drop_stale_locks() == ["dead"]
        assert (locks / "alive" / "1.json").exists()
        assert not (locks / "dead" / "1.json").exists()
    finally:
        engine.kill()
        engine.wait()


def test_resources_are_counted_as_made_and_as_the_engine_does() -> None:
    kinds = ("pulumi:pulumi:Stack::a-b", "pulumi:providers:aws::default_7_51_1", "pulumi:providers:aws::other")
    resources = [
        {"urn": f"urn:pulumi:b::a::{kind}", "type": kind.partition("::")[0], "custom": "providers" in kind}
        for kind in kinds
    ]
    resources += [{"urn": "urn:pulumi:b::a::gpukit:index:Network::net", "type": "gpukit:index:Network"}]
    resources += [{"urn": "urn:pulumi:b::a::aws:ec2/vpc:Vpc::default", "type": "aws:ec2/vpc:Vpc", "custom": True}]

    assert len(made_in_cloud(resources)) == 1
    assert len(counted_by_engine(resources)) == 4
