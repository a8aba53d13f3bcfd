"""Limits of an organisation hold in every preview, and a change cannot take them away."""

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli.new import app as new
from gpukit.cli.preview import app

# each test runs whole processes
pytestmark = pytest.mark.slow


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments], cwd=folder, check=True,
                   capture_output=True)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Path:
    assert CliRunner().invoke(new, [str(tmp_path / "demo"), "--template", "gpu-single-node"]).exit_code == 0
    project = tmp_path / "demo"
    (project / ".gpukit" / "limits.yaml").write_text("instance_types: [g5.xlarge]\nmax_gpus: 1\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "base")
    return project


def preview(project: Path):
    return CliRunner().invoke(app, ["--cwd", str(project), "--stack", "dev", "--base", "HEAD"])


def test_a_stack_within_its_limits_passes(project: Path) -> None:
    assert preview(project).exit_code == 0


@pytest.mark.parametrize("what_about_the_limits", ["keep", "loosen", "remove"])
def test_a_change_over_the_limits_is_refused_whatever_it_does_to_them(
    project: Path, what_about_the_limits: str
) -> None:
    limits = project / ".gpukit" / "limits.yaml"
    if what_about_the_limits == "loosen":
        limits.write_text("instance_types: [g5.xlarge, g5.12xlarge]\nmax_gpus: 64\n")
    elif what_about_the_limits == "remove":
        limits.unlink()
    stack = project / "Pulumi.dev.yaml"
    stack.write_text(
        stack.read_text() + "    pools:\n      workstation: {instance_type: g5.12xlarge}\n    budget: null\n"
    )
    result = preview(project)

    assert result.exit_code == 4, result.output
    assert "gate limits: 4 GPUs, over the 1 allowed (and 1 more" in result.stdout
    assert "instance type g5.12xlarge; allowed are g5.xlarge" in result.stdout
