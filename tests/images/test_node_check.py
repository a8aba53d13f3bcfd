"""The node check against recorded outputs of every GPU family, healthy and broken."""

import ast
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gpukit.images.pack import FILES

RECORDED = Path(__file__).parent / "recorded"
HEALTHY = sorted(path.name for path in (RECORDED / "healthy").iterdir())
BROKEN = sorted(path.name for path in (RECORDED / "broken").iterdir())


class Clock:
    """Time that only passes while somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.naps = 0
        self.on_nap = lambda: None

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        self.naps += 1
        self.on_nap()

    def now(self) -> float:
        return self.seconds


def judge(module, tape, **expected):
    clock = Clock()
    machine = module.Machine(root=str(tape.root), sleep=clock.sleep, now=clock.now)
    return module.judge(machine, {**tape.expected, **expected}), clock


@pytest.mark.parametrize("case", HEALTHY)
def test_a_healthy_node_of_every_family_passes(any_node_check, recording, case) -> None:
    verdict, _ = judge(any_node_check, recording("healthy", case))

    assert (verdict["healthy"], verdict["reason"], verdict["message"]) == (True, "NodeHealthy", "")


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_node_is_named_for_what_is_broken(any_node_check, recording, case) -> None:
    tape = recording("broken", case)

    verdict, _ = judge(any_node_check, tape)

    assert verdict["healthy"] is False
    assert verdict["reason"] == tape.reason
    assert verdict["message"]


def test_every_gpu_of_the_catalogue_on_aws_is_recorded(node_check) -> None:
    from gpukit.images.choose import load_manifest

    recorded = {
        json.loads((RECORDED / "healthy" / case / "expected.json").read_text())["gpu_model"] for case in HEALTHY
    }
    off_aws = {"A10", "A800-80", "L20", "H800", "H20"}
    no_image = {"K80"}

    assert recorded == {row.gpu_model for row in load_manifest().gpus} - off_aws - no_image
    assert recorded == set(node_check.GPUS)


def test_recordings_agree_with_the_catalogue() -> None:
    from gpukit.catalog import load_catalog

    catalog = load_catalog()
    for case in HEALTHY:
        expected = json.loads((RECORDED / "healthy" / case / "expected.json").read_text())
        known = catalog.instance_type(expected["instance_type"])
        assert expected["gpus"] == math.ceil(known.gpu_count), case
        assert expected["gpu_model"] == known.gpu_model, case
        assert expected["local_nvme"] == known.local_nvme_count, case
        assert expected["efa_interfaces"] <= (known.max_efa_interfaces or expected["efa_interfaces"]), case


def test_at_least_twelve_kinds_of_broken_are_recorded() -> None:
    reasons = {json.loads((RECORDED / "broken" / case / "case.json").read_text())["reason"] for case in BROKEN}

    assert len(reasons) >= 24


@pytest.mark.parametrize(
    "expected",
    [
        pytest.param({"gpus": 0}, id="zero expected, one there"),
        pytest.param({"gpus": None}, id="count not given"),
        pytest.param({"gpu_model": ""}, id="model not given"),
        pytest.param({"gpu_model": "R200"}, id="model nobody knows"),
    ],
)
def test_an_expectation_that_says_nothing_never_passes(node_check, recording, expected) -> None:
    verdict, _ = judge(node_check, recording("healthy", "g5-xlarge"), **expected)

    assert verdict["healthy"] is False


def test_zero_gpus_are_never_healthy_even_where_zero_are_expected(node_check, recording) -> None:
    verdict, _ = judge(node_check, recording("broken", "no-devices"), gpus=0)

    assert (verdict["healthy"], verdict["gpus"]) == (False, 0)


def test_efa_devices_that_come_late_are_waited_for(node_check, recording) -> None:
    tape = recording("healthy", "p5en-48xlarge")
    all_devices = tape.files["efa.txt"]
    for name in (line.split()[0] for line in all_devices.splitlines()[4:]):
        os.rename(tape.root / "sys/class/infiniband" / name, tape.root / name)
    clock = Clock()
    machine = node_check.Machine(root=str(tape.root), sleep=clock.sleep, now=clock.now)
    clock.on_nap = lambda: tape.write_efa(all_devices) if clock.naps == 3 else None

    verdict = node_check.judge(machine, {**tape.expected, "late_seconds": 120})

    assert verdict["healthy"], verdict["message"]
    assert clock.naps == 3


def test_efa_devices_that_never_come_end_the_wait(node_check, recording) -> None:
    tape = recording("broken", "efa-missing")

    verdict, clock = judge(node_check, tape, late_seconds=120)

    assert verdict["reason"] == "EfaMissing"
    assert 115 <= clock.seconds <= 130


def test_a_host_without_libfabric_passes_on_its_devices_alone(node_check, recording) -> None:
    tape = recording("healthy", "p5en-48xlarge")
    (tape.bin / "fi_info").unlink()

    verdict, _ = judge(node_check, tape)

    assert verdict["healthy"]
    assert "the proof job asks it" in next(c["message"] for c in verdict["checks"] if c["name"] == "efa")


def test_an_rdma_device_of_another_driver_is_no_efa_device(node_check, recording) -> None:
    tape = recording("broken", "efa-none")
    other = tape.root / "sys/bus/pci/drivers/mlx5_core"
    other.mkdir()
    for number in range(16):
        device = tape.root / f"sys/class/infiniband/mlx5_{number}/device"
        device.mkdir(parents=True)
        os.symlink(other, device / "driver")

    verdict, _ = judge(node_check, tape)

    assert verdict["reason"] == "EfaMissing"


def test_a_partly_linked_type_may_show_inactive_links(node_check, recording) -> None:
    tape = recording("healthy", "p3-16xlarge")
    text = tape.files["nvlink.txt"].replace("Link 4: 25.781 GB/s", "Link 4: <inactive>")
    (tape.tape / "nvlink.txt").write_text(text.replace("Link 5: 25.781 GB/s", "Link 5: <inactive>"))

    assert judge(node_check, tape, instance_type="p3.8xlarge")[0]["healthy"]
    assert judge(node_check, tape)[0]["reason"] == "NvlinkDown"


def test_a_hanging_command_fails_instead_of_hanging(node_check, tmp_path, monkeypatch) -> None:
    slow = tmp_path / "nvidia-smi"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))

    assert node_check.Machine().run("nvidia-smi", timeout=0.2) == (124, "")


def test_without_a_cuda_library_the_call_says_so(node_check, monkeypatch) -> None:
    monkeypatch.setenv("GPUKIT_LIBCUDA", "/nowhere/libcuda.so.1")

    answer = node_check.call_cuda()

    assert answer["code"] is None
    assert "libcuda" in answer["error"]


def test_the_command_line_writes_a_verdict_and_exits_by_it(recording, tmp_path) -> None:
    tape = recording("broken", "nvlink-inactive")
    config, out = tmp_path / "expected.json", tmp_path / "made/verdict.json"
    config.write_text(json.dumps(tape.expected))
    script = str(FILES / "node_check.py")

    done = subprocess.run(
        [sys.executable, script, "check", "--config", config, "--out", out, "--root", tape.root], check=False
    )
    told = subprocess.run(
        [sys.executable, script, "explain", "--verdict", out], check=False, capture_output=True, text=True
    )

    assert done.returncode == 1
    assert json.loads(out.read_text())["reason"] == "NvlinkDown"
    assert told.returncode == 1
    assert "NOT HEALTHY, NvlinkDown" in told.stdout


def test_an_unreadable_expectation_is_bad_usage(node_check, tmp_path, capsys) -> None:
    (tmp_path / "bad.json").write_text("{")

    assert node_check.main(["check", "--config", str(tmp_path / "bad.json")]) == 2
    assert "node_check:" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["node_check", "node_report", "idle_stop"])
def test_scripts_of_the_node_parse_as_python_3_9_and_import_the_standard_library_only(name) -> None:
    tree = ast.parse((FILES / f"{name}.py").read_text(), feature_version=(3, 9))
    imported = {
        alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module or "")])
    }

    assert imported <= sys.stdlib_module_names


def test_the_script_does_not_use_what_python_3_9_lacks() -> None:
    for name in ("node_check", "node_report", "idle_stop"):
        tree = ast.parse((FILES / f"{name}.py").read_text())
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Match)]
        assert not [
            k for node in ast.walk(tree) if isinstance(node, ast.Call) for k in node.keywords if k.arg == "strict"
        ]
