"""Another revision's files: what git lacks is said with a fix, and no link leads out of an export."""

import subprocess
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli.preview import app
from gpukit.preview.revision import RevisionError, export, resolve

CLUSTER = "preset: single-node\n"


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments], cwd=folder, check=True,
                   capture_output=True)  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "base")
    return tmp_path


def test_a_base_outside_git_is_bad_usage_with_why_and_fix(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    result = CliRunner().invoke(app, [str(file), "--base", "main"])

    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path} lies in no git repository")
    assert "  why:  " in result.stderr
    assert "  fix:  leave the base out" in result.stderr
    assert "fatal" not in result.stderr


def test_an_unknown_revision_is_bad_usage(repository: Path) -> None:
    result = CliRunner().invoke(app, [str(repository / "cluster.yaml"), "--base", "nowhere"])

    assert result.exit_code == 2
    assert "git knows no revision `nowhere` here" in result.stderr


def test_git_that_is_not_installed_is_a_missing_tool(repository: Path, monkeypatch) -> None:
    monkeypatch.setenv("PATH", str(repository))
    result = CliRunner().invoke(app, [str(repository / "cluster.yaml"), "--base", "HEAD"])

    assert result.exit_code == 3
    assert "git is not on PATH" in result.stderr


def test_a_revision_that_looks_like_an_option_is_refused(repository: Path) -> None:
    with pytest.raises(RevisionError, match="is no git revision"):
        resolve(repository, "--output=x")


def test_a_link_out_of_the_tree_is_left_away_and_the_rest_exported(repository: Path, tmp_path: Path) -> None:
    (repository / "out").symlink_to("/etc/hostname")
    (repository / "near").symlink_to("cluster.yaml")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "links")
    target = tmp_path / "tree"
    export(repository, "HEAD", target)

    assert sorted(path.name for path in target.iterdir()) == ["cluster.yaml", "near"]
