"""The Makefile of a new project: it takes the gpukit that is there, and leaves no half-made environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli.new import app
from gpukit.projects.sources import shipped_folder, shipped_names

OWN = Path(sys.executable).parent


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert CliRunner().invoke(app, [str(tmp_path / "demo")]).exit_code == 0
    return tmp_path / "demo"


def make(project: Path, *arguments: str, path: list[Path]) -> subprocess.CompletedProcess[str]:
    folders = [*(str(folder) for folder in path), "/usr/local/bin", "/usr/bin", "/bin"]
    return subprocess.run(
        ["make", *arguments],
        cwd=project,
        env={
            "PATH": os.pathsep.join(folders),
            "HOME": str(project),
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def python_without_gpukit(folder: Path) -> Path:
    """Return a folder whose `python3` has pip and venv and no gpukit."""
    folder.mkdir()
    (folder / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    return folder


def test_the_active_gpukit_is_used(project: Path) -> None:
    result = make(project, "plan", path=[OWN])

    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("single-node")
    assert not (project / ".venv").exists()


def test_a_gpukit_on_path_is_used_where_python3_has_none(project: Path, tmp_path: Path) -> None:
    folder = python_without_gpukit(tmp_path / "bin")
    (folder / "gpukit").write_text(f"#!{sys.executable}\n")
    (folder / "gpukit").chmod(0o755)
    result = make(project, "plan", path=[folder])

    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("single-node")


def test_a_venv_without_gpukit_is_passed_by(project: Path) -> None:
    (project / ".venv" / "bin").mkdir(parents=True)
    (project / ".venv" / "bin" / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")

    assert make(project, "plan", path=[OWN]).returncode == 0


def test_an_index_without_gpukit_leaves_no_venv_and_says_what_to_do(project: Path, tmp_path: Path) -> None:
    result = make(project, "plan", path=[python_without_gpukit(tmp_path / "bin")])

    assert result.returncode != 0
    assert "make setup WHEELS=" in result.stderr
    assert not (project / ".venv").exists()


def test_every_template_has_the_same_makefile() -> None:
    assert len({(shipped_folder() / name / "Makefile").read_bytes() for name in shipped_names()}) == 1
