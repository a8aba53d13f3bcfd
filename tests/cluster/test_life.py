"""A control plane's life: it leaves nothing behind, a part that was killed is named, and the next start works."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpukit_sandbox import processes
from gpukit_sandbox.errors import PartFailed
from gpukit_sandbox.kube import control_plane
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.beside import PARTS
from gpukit_sandbox.processes import Part
from gpukit_sandbox.sandbox import Sandbox

from tests.cluster.support import wait_for

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture
def second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    box = Sandbox("second")
    yield box
    box.down(purge=True)


def parts_of(box: Sandbox) -> list[Part]:
    return [processes.part_from_json(record) for record in box.directory.read()["parts"]]


def test_a_second_control_plane_stands_beside_the_first_and_leaves_nothing(
    box: Sandbox, api: KubeApi, second: Sandbox
) -> None:
    status = second.up(with_kubernetes=True)
    parts = parts_of(second)
    other = KubeApi.from_kubeconfig(Path(status["kubeconfig"]))
    other.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "only-here"}})

    assert [part.name for part in parts] == ["cloud", *PARTS]
    assert api.get("v1", "Namespace", "only-here") is None

    second.down(purge=True)

    assert not any(map(processes.is_running, parts))
    assert not second.directory.root.exists()
    assert box.status()["running"]


@pytest.mark.parametrize("victim", ["etcd", "kube-apiserver", "kueue"])
def test_a_part_killed_while_starting_is_named_and_everything_is_ended(
    second: Sandbox, monkeypatch: pytest.MonkeyPatch, victim: str
) -> None:
    start = processes.start_part

    def start_and_kill(name: str, *rest: object, **more: object) -> Part:
        part = start(name, *rest, **more)  # type: ignore[arg-type]
        if name == victim:
            os.kill(part.pid, signal.SIGKILL)
        return part

    seen: list[Part] = []
    monkeypatch.setattr(processes, "start_part", lambda *a, **k: seen.append(start_and_kill(*a, **k)) or seen[-1])
    with pytest.raises(PartFailed, match=f"{victim} ended by itself") as failure:
        second.up(with_kubernetes=True)

    assert failure.value.exit_code == 3
    assert [part.name for part in seen if processes.is_running(part)] == ["cloud"]


def test_a_killed_etcd_is_told_at_the_next_start_and_what_was_stored_is_there_again(second: Sandbox) -> None:
    said: list[str] = []
    status = second.up(with_kubernetes=True)
    api = KubeApi.from_kubeconfig(Path(status["kubeconfig"]))
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "kept"}})
    etcd = next(part for part in parts_of(second) if part.name == "etcd")
    os.kill(etcd.pid, signal.SIGKILL)
    wait_for(lambda: not processes.is_running(etcd))

    assert second.status()["running"] is False
    with pytest.raises(PartFailed, match="etcd ended by itself"):
        control_plane.require_running(parts_of(second))

    second.up(said.append)

    assert any("etcd had ended by itself" in line for line in said)
    again = KubeApi.from_kubeconfig(Path(second.status()["kubeconfig"]))
    assert again.get("v1", "Namespace", "kept") is not None
    assert again.server == api.server
