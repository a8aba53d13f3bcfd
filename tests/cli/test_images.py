"""`gpukit images bump` changes one line of a stack file."""

from pathlib import Path

import pytest

from .test_commands import run

STACK = """config:
  gpukit:preset: single-node
  gpukit:cluster:
    images:
      pytorch:
        framework: pytorch  # ours
        ami_id: ami-0123456789abcdef0
"""


@pytest.fixture
def stack(tmp_path: Path) -> Path:
    file = tmp_path / "Pulumi.dev.yaml"
    file.write_text(STACK)
    return file


def test_a_bump_changes_the_pin_and_nothing_else(stack: Path) -> None:
    done = run("images", "bump", "pytorch", str(stack), "--to", "ami-0fedcba9876543210")

    assert done.returncode == 0
    assert stack.read_text() == STACK.replace("ami-0123456789abcdef0", "ami-0fedcba9876543210")


@pytest.mark.parametrize(
    ("image", "pin"),
    [
        pytest.param("tensorflow", "ami-0fedcba9876543210", id="no-such-image"),
        pytest.param("pytorch", "registry.example.com/train:latest", id="moving-tag"),
    ],
)
def test_a_bump_that_cannot_be_made_leaves_the_file_alone(stack: Path, image: str, pin: str) -> None:
    done = run("images", "bump", image, str(stack), "--to", pin)

    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert stack.read_text() == STACK
