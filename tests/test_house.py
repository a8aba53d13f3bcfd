"""The house as a whole: who may import whom, what the wheel carries, and what must never be in the tree."""

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from gpukit.finding import has_errors
from gpukit.planning import plan_from_preset
from gpukit.spec.presets import preset_names

ROOT = Path(__file__).resolve().parent.parent
SHELL = ("pulumi", "pulumi_aws", "pulumi_kubernetes", "boto3", "botocore", "moto", "grpc", "gpukit_components")
SLOW = (*SHELL, "typer", "rich", "click", "jinja2", "hypothesis", "networkx", "requests", "asyncio", "urllib.request")


def _loaded_after(code: str) -> set[str]:
    """Return the modules that a fresh interpreter holds after running the code."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_core_imports_no_engine_and_no_cloud_library() -> None:
    code = (
        "import importlib, pkgutil, gpukit\n"
        "for module in pkgutil.walk_packages(gpukit.__path__, 'gpukit.'):\n"
        "    if not module.name.endswith('__main__'):\n"
        "        importlib.import_module(module.name)"
    )
    loaded = _loaded_after(code)

    assert "gpukit.planning" in loaded
    assert {name for name in SHELL if name in loaded} == set()


def test_planning_loads_nothing_slow() -> None:
    loaded = _loaded_after(
        "from gpukit.planning import plan_from_preset\nassert plan_from_preset('thousand-card').plan is not None"
    )

    assert {name for name in SLOW if name in loaded} == set()


def test_importing_gpukit_loads_no_module_of_its_own() -> None:
    loaded = _loaded_after("import gpukit")

    assert {name for name in loaded if name.startswith("gpukit.")} == set()


@pytest.mark.parametrize("preset", preset_names())
def test_a_preset_plans_without_errors(preset: str) -> None:
    result = plan_from_preset(preset)

    assert [finding for finding in result.findings if has_errors([finding])] == []
    assert result.plan is not None


def _tracked_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


FORBIDDEN = {
    # Written in pieces, or this file would find itself.
    "a registry's address": r"(files\.)?python" + r"hosted\.org|pypi" + r"\.org/simple|proxy\.go" + r"lang\.org"
    r"|registry\.npm" + r"js\.org|static\.crates" + r"\.io|repo1?\.maven" + r"\.apache",
    "an index option": r"--(extra-)?index" + r"-url\s*[= ]\s*https?:|--find" + r"-links\s*[= ]\s*https?:",
    "a folder of one machine": r"/work"
    + r"/(main|shared|notes)|/tmp"
    + r"/(gobuild|house)|/Users"
    + r"/\w|C:"
    + r"\\Users",
    # AWS writes its examples with EXAMPLE at the end.
    "an access key": r"\bAKIA" + r"(?![0-9A-Z]{9}EXAMPLE)[0-9A-Z]{16}\b",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_the_tree_names_no_machine_and_no_registry(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    found = []
    for file in _tracked_files():
        text = file.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{file.relative_to(ROOT)}: {match.group(0)}" for match in pattern.finditer(text)]

    assert found == []


def test_no_stack_file_is_committed_with_a_salt() -> None:
    """The engine writes one into the working tree where somebody runs it by hand; it is of that person's passphrase."""
    for file in _tracked_files():
        if re.fullmatch(r"Pulumi\..+\.yaml", file.name) and file.parent == ROOT / "stacks":
            name = f"HEAD:{file.relative_to(ROOT).as_posix()}"
            shown = subprocess.run(["git", "show", name], cwd=ROOT, capture_output=True, text=True, check=False)

            assert "encryptionsalt" not in shown.stdout


def test_requirements_pin_and_hash_every_package() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        lines = [line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        packages = [line for line in lines if line and not line.startswith(" ")]

        assert all(re.fullmatch(r"[a-z0-9._-]+==[^ ;]+( ; [^\\]+)? \\", line) for line in packages)
        assert len(packages) > 40
        assert sum(line.startswith("    --hash=sha256:") for line in lines) >= len(packages)


def test_requirements_agree_on_every_version() -> None:
    pinned = {}
    for name in ("requirements.txt", "requirements-dev.txt"):
        text = (ROOT / name).read_text(encoding="utf-8")
        pinned[name] = dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", text, flags=re.MULTILINE))

    assert pinned["requirements.txt"].items() <= pinned["requirements-dev.txt"].items()


def test_requirements_hold_everything_that_the_project_asks_for() -> None:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {
        re.split(r"[\[<>=!~ ;]", text, maxsplit=1)[0].lower().replace("_", "-")
        for group in (project["dependencies"], *project["optional-dependencies"].values())
        for text in group
    } - {"gpukit"}
    pinned = set(
        re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements-dev.txt").read_text(encoding="utf-8"), re.MULTILINE)
    )

    assert asked - pinned == set()


@pytest.fixture(scope="session")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Build the wheel in this process, offline, and return the names in it."""
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    [path] = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(path) as wheel:
        return set(wheel.namelist())


def test_the_wheel_carries_the_three_packages(wheel_names: set[str]) -> None:
    assert {"gpukit/__init__.py", "gpukit_components/__init__.py", "gpukit_sandbox/__init__.py"} <= wheel_names


@pytest.mark.parametrize(
    ("folder", "inside"),
    [
        pytest.param("stacks/presets", "gpukit/_shipped/presets", id="presets"),
        pytest.param("runtime/gpukit_runtime", "gpukit/_shipped/gpukit_runtime", id="what images run"),
        pytest.param("templates", "gpukit/_shipped/templates", id="templates"),
        pytest.param("docs/codes", "gpukit/_shipped/codes", id="codes"),
        pytest.param("sandbox/go", "gpukit_sandbox/_shipped/go", id="the sandbox's Go modules"),
        pytest.param("gpukit/catalog/data", "gpukit/catalog/data", id="the catalogue"),
    ],
)
def test_the_wheel_carries_what_the_code_reads(folder: str, inside: str, wheel_names: set[str]) -> None:
    files = {path.relative_to(ROOT / folder).as_posix() for path in _tracked_files() if (ROOT / folder) in path.parents}

    assert files
    assert {f"{inside}/{name}" for name in files} - wheel_names == set()


def test_the_wheel_carries_no_test_and_no_cache(wheel_names: set[str]) -> None:
    assert [name for name in wheel_names if "__pycache__" in name or name.startswith("tests")] == []
