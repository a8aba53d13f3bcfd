"""A salt that the engine writes into a stack file goes again; what people wrote stays byte for byte."""

import sys
from pathlib import Path

import pytest
from gpukit_sandbox.salt import find_stack_files, read_unsalted, take_salt_away
from gpukit_sandbox.sandbox import Sandbox

WRITTEN = b"# one GPU\nconfig:\n    aws:region:   us-east-1 # here\n"
SALT = b"encryptionsalt: v1:abc=:v1:def:ghi=="


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: gpukit\nruntime: python\nstackConfigDir: stacks\n")
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_bytes(WRITTEN)
    return tmp_path


@pytest.mark.parametrize(
    ("before", "after", "left"),
    [
        pytest.param(WRITTEN, WRITTEN + SALT + b"\n", WRITTEN, id="at-the-end"),
        pytest.param(WRITTEN, SALT + b"\n" + WRITTEN, WRITTEN, id="at-the-start"),
        pytest.param(WRITTEN, WRITTEN + SALT, WRITTEN, id="without-a-last-newline"),
        pytest.param(WRITTEN.rstrip(), WRITTEN + SALT + b"\n", WRITTEN.rstrip(), id="a-newline-that-was-not-there"),
        pytest.param(
            WRITTEN, b"config:\n  aws:region: us-east-1\n" + SALT + b"\n", WRITTEN, id="written-in-another-form"
        ),
        pytest.param(
            WRITTEN, WRITTEN + b"  gpukit:preset: dev\n" + SALT + b"\n", WRITTEN + b"  gpukit:preset: dev\n", id="a-change"
        ),
        pytest.param(WRITTEN, WRITTEN, WRITTEN, id="no-salt-came"),
        pytest.param(SALT + b"\n" + WRITTEN, SALT + b"\n" + WRITTEN, SALT + b"\n" + WRITTEN, id="it-was-there"),
    ],
)  # fmt: skip
def test_only_a_new_salt_goes(project: Path, before: bytes, after: bytes, left: bytes) -> None:
    file = project / "stacks" / "Pulumi.dev.yaml"
    file.write_bytes(before)
    unsalted = read_unsalted([file])
    file.write_bytes(after)
    take_salt_away(unsalted, pytest.fail)

    assert file.read_bytes() == left


@pytest.mark.parametrize(
    "secret",
    [
        pytest.param(b"  gpukit:token:\n    secure: v1:x\n", id="block"),
        pytest.param(b"  gpukit:token: {secure: v1:x}\n", id="flow"),
        pytest.param(b"  gpukit:tokens:\n    - secure: v1:x\n", id="list"),
    ],
)
def test_the_salt_of_a_secret_stays_and_is_told(project: Path, secret: bytes) -> None:
    file = project / "stacks" / "Pulumi.dev.yaml"
    unsalted = read_unsalted([file])
    file.write_bytes(WRITTEN + secret + SALT)
    said: list[str] = []
    take_salt_away(unsalted, said.append)

    assert SALT in file.read_bytes()
    assert "keeps `encryptionsalt`" in said[0]


@pytest.mark.parametrize(
    ("argv", "start"),
    [
        pytest.param(["pulumi", "preview"], ".", id="here"),
        pytest.param(["pulumi", "preview"], "stacks", id="below"),
        pytest.param(["pulumi", "-C", "project", "up"], "..", id="pulumi-C"),
        pytest.param(["pulumi", "up", "--cwd=project"], "..", id="pulumi-cwd"),
    ],
)
def test_the_stack_files_are_those_of_the_command_s_project(project: Path, argv: list[str], start: str) -> None:
    inner = project / "project"
    inner.mkdir()
    for name in ("Pulumi.yaml", "stacks"):
        (project / name).rename(inner / name)

    assert find_stack_files(argv, inner / start) == [inner / "stacks" / "Pulumi.dev.yaml"]


def test_a_command_in_the_sandbox_leaves_no_salt(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sandbox, "environment", lambda self, progress=None: {"PATH": str(Path(sys.executable).parent)})
    file = project / "stacks" / "Pulumi.dev.yaml"
    program = f"import sys; open({str(file)!r}, 'ab').write({SALT!r}); sys.exit(7)"

    assert Sandbox("salt").run([Path(sys.executable).name, "-c", program], cwd=project) == 7
    assert file.read_bytes() == WRITTEN
