"""The workstation's cloud-init: valid, small, quiet on the network, stops when idle."""

import json
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from gpukit.images.manifest import ImageError
from gpukit.images.pack import unpack
from gpukit.images.render import USER_DATA_LIMIT_BYTES, render_workstation_user_data
from gpukit.images.templating import render_template
from gpukit.plan import BootHookPlan, Plan


@pytest.fixture
def plan(presets) -> Plan:
    return presets["single-node"]


def document(plan: Plan, **changes) -> tuple[str, dict, dict[str, str]]:
    pool = changes.pop("pool", plan.pools[0])
    text = render_workstation_user_data(plan, pool, plan.image(pool.image), **changes)
    loaded = yaml.safe_load(text)
    return text, loaded, {item["path"]: item["content"] for item in loaded["write_files"]}


def boot_script(files: dict[str, str]) -> str:
    """Return the setup script, unpacked where it travels packed."""
    setup = files["/opt/gpukit/setup.sh"]
    head, mark, rest = setup.partition(">/opt/gpukit/boot.sh <<'END'\n")
    return unpack(rest.partition("\nEND\n")[0]) if mark and "packed because" in head else setup


def test_user_data_of_the_single_node_is_a_golden(plan, compare_golden) -> None:
    compare_golden("single-node.user-data.yaml", document(plan)[0])


def test_it_is_cloud_config_under_the_limit(plan) -> None:
    text, loaded, _ = document(plan, log_group="/gpukit/single/boot", volume_id="vol-0123456789abcdef0")

    assert text.startswith("#cloud-config\n")
    assert len(text.encode()) <= USER_DATA_LIMIT_BYTES
    assert set(loaded) == {"package_update", "package_upgrade", "disable_root", "bootcmd", "write_files", "runcmd"}


def test_nothing_upgrades_by_itself(plan) -> None:
    _, loaded, _ = document(plan)

    assert loaded["package_upgrade"] is False
    assert "unattended-upgrades.service" in loaded["runcmd"][0]


@pytest.mark.parametrize("volume_id", ["", "vol-0123456789abcdef0"])
def test_setup_is_clean_shell(plan, check_shell, tmp_path, volume_id) -> None:
    pool = replace(plan.pools[0], boot=(BootHookPlan(name="mine", when="before-join", content="echo mine", sha256=""),))
    _, _, files = document(plan, pool=pool, volume_id=volume_id, log_group="/gpukit/single/boot")
    (tmp_path / "setup.sh").write_text(files["/opt/gpukit/setup.sh"])
    (tmp_path / "boot.sh").write_text(boot_script(files))

    check_shell(tmp_path / "setup.sh")
    check_shell(tmp_path / "boot.sh")
    assert "echo mine" in (tmp_path / "boot.sh").read_text()


def test_a_known_volume_is_found_by_its_id(plan) -> None:
    _, _, files = document(plan, volume_id="vol-0123456789abcdef0")

    assert "nvme-Amazon_Elastic_Block_Store_vol0123456789abcdef0" in boot_script(files)


@pytest.mark.parametrize("volume_id", ["vol-xyz", "vol-1; reboot", "../.."])
def test_a_text_that_is_no_volume_id_is_refused(plan, volume_id) -> None:
    with pytest.raises(ValueError, match="is not a volume id"):
        document(plan, volume_id=volume_id)


def test_a_path_that_would_break_fstab_is_refused(plan) -> None:
    assert plan.workstation is not None
    odd = replace(plan, workstation=replace(plan.workstation, data_mount_path="/data dir"))

    with pytest.raises(ImageError, match="data_mount_path"):
        document(odd)


def test_jupyter_listens_on_loopback_only(plan) -> None:
    assert plan.workstation is not None
    with_jupyter = replace(plan, workstation=replace(plan.workstation, jupyter=True))
    unit = document(with_jupyter)[2]["/etc/systemd/system/gpukit-jupyter.service"]

    assert "--ServerApp.ip=127.0.0.1" in unit
    assert "0.0.0.0" not in json.dumps(document(with_jupyter)[1])
    assert "/opt/pytorch/bin/python -m jupyterlab" in unit


def test_without_jupyter_and_idle_stop_there_is_no_unit_for_them(plan) -> None:
    assert plan.workstation is not None
    bare = replace(plan, workstation=replace(plan.workstation, jupyter=False, idle_stop_minutes=0))
    _, _, files = document(bare)

    assert not [path for path in files if path.endswith((".service", ".timer"))]
    assert "idle_stop" not in boot_script(files)


def test_every_unit_file_is_valid_to_systemd(plan, tmp_path) -> None:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not installed")
    assert plan.workstation is not None
    full = replace(plan, workstation=replace(plan.workstation, jupyter=True, idle_stop_minutes=30))
    units = {
        Path(path).name: text for path, text in document(full)[2].items() if path.startswith("/etc/systemd/system")
    }
    units["gpukit-node-check.service"] = render_template("node-check.service.j2")
    units["gpukit-node-check.timer"] = render_template("node-check.timer.j2", minutes=5)
    units["gpukit-after-join.service"] = render_template("after-join.service.j2", hooks=[{"name": "late"}])
    for name, text in units.items():
        # What the unit runs is not on this machine; systemd only has to like the rest.
        known = text.replace("/opt/pytorch/bin/python", "/usr/bin/python3").replace("User=ubuntu", "User=root")
        (tmp_path / name).write_text(known)
    done = subprocess.run(
        [tool, "verify", "--recursive-errors=no", *sorted(tmp_path.iterdir())],
        capture_output=True,
        text=True,
        check=False,
    )

    complaints = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "gpukit" in line]
    assert not complaints
    assert len(units) == 6


class Answers:
    """Commands of the machine with given answers."""

    def __init__(self, **answers: str) -> None:
        self.answers = answers

    def __call__(self, *command: str) -> str:
        return self.answers.get(command[0].replace("-", "_"), "")


@pytest.mark.parametrize(
    ("last", "busy", "in_use", "stops"),
    [
        pytest.param(None, False, [], False, id="first look"),
        pytest.param(1000 - 59 * 60, False, [], False, id="59 minutes"),
        pytest.param(1000 - 60 * 60, False, [], True, id="60 minutes"),
        pytest.param(1000 - 90 * 60, True, [], False, id="GPU works"),
        pytest.param(1000 - 90 * 60, False, ["ssm-session"], False, id="somebody is there"),
        pytest.param(2000, False, [], False, id="clock went back"),
    ],
)
def test_when_an_idle_machine_stops(idle_stop, last, busy, in_use, stops) -> None:
    assert idle_stop.decide(1000, last, 60, busy, in_use)[0] is stops


@pytest.mark.parametrize(
    ("answer", "load", "busy"),
    [
        pytest.param("0\n0\n", 4.0, False, id="idle GPUs"),
        pytest.param("0\n97\n", 0.0, True, id="one works"),
        pytest.param("2\n", 9.0, False, id="a monitor"),
        pytest.param("", 0.1, False, id="no answer, no load"),
        pytest.param("", 3.0, True, id="no answer, but load"),
        pytest.param("[N/A]\n", 3.0, True, id="no number, but load"),
    ],
)
def test_what_counts_as_gpu_work(idle_stop, monkeypatch, answer, load, busy) -> None:
    monkeypatch.setattr(idle_stop, "run", Answers(nvidia_smi=answer))
    monkeypatch.setattr(idle_stop.os, "getloadavg", lambda: (load, load, load))

    assert idle_stop.gpu_is_busy() is busy


def test_what_counts_as_a_session(idle_stop, monkeypatch) -> None:
    monkeypatch.setattr(idle_stop, "run", Answers(pgrep="4242\n", who="ubuntu pts/0\n"))
    assert idle_stop.sessions() == ["ssm-session", "login"]

    monkeypatch.setattr(
        idle_stop, "run", Answers(ps=" 0.3 python -m ipykernel_launcher\n42.0 python -m ipykernel_launcher\n")
    )
    assert idle_stop.sessions() == ["jupyter-kernel"]

    monkeypatch.setattr(idle_stop, "run", Answers(ps=" 0.3 python -m ipykernel_launcher\n 99 python train.py\n"))
    assert idle_stop.sessions() == []


def test_the_machine_is_stopped_once_its_time_is_up(idle_stop, monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setattr(idle_stop, "run", Answers(nvidia_smi="0\n"))
    state, flag = tmp_path / "idle.json", tmp_path / "stopped"
    arguments = ["--minutes", "60", "--state", str(state), "--stop-command", f"touch {flag}"]

    assert idle_stop.main(arguments) == 0
    assert not flag.exists()
    state.write_text(json.dumps({"last_active": time.time() - 61 * 60}))
    assert idle_stop.main(arguments) == 0

    assert flag.exists()
    assert "idle for 60 minutes" in capsys.readouterr().out


def test_a_broken_state_file_starts_the_clock_anew(idle_stop, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(idle_stop, "run", Answers(nvidia_smi="0\n"))
    state = tmp_path / "idle.json"
    state.write_text("{")

    assert idle_stop.main(["--minutes", "1", "--state", str(state), "--stop-command", "false"]) == 0
