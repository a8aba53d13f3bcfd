"""Finding and building the sandbox's tools, with a stand-in for `go`."""

import os
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from gpukit_sandbox import tools
from gpukit_sandbox.errors import MissingTool, UnknownName


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, and a PATH of one empty folder, which is returned."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def executable(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def fake_go(folder: Path, *, body: str = "") -> Path:
    """A `go` that writes its -o file after `body`; returns the file that counts its runs."""
    runs = folder / "runs"
    executable(
        folder / "go",
        f"""PATH=/usr/bin:/bin
echo "$GOFLAGS|$PWD|$*" >> {runs}
echo "go: downloading something v1.0.0"
{body}
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then shift; printf '#!/bin/sh\\necho built\\n' > "$1"; chmod +x "$1"; fi; shift; done""",
    )
    return runs


def test_a_tool_on_path_is_used_and_nothing_is_built(bare: Path) -> None:
    executable(bare / "pulumi", "true")

    assert bare / "pulumi" == tools.find_tool("pulumi")


def test_a_built_tool_is_found_in_the_cache_the_next_time(bare: Path) -> None:
    runs = fake_go(bare)
    said: list[str] = []
    first = tools.find_tool("pulumi", said.append)

    assert first == tools.find_tool("pulumi", said.append)
    assert len(runs.read_text().splitlines()) == 1
    assert first.is_relative_to(tools.cache_directory() / "tools" / "pulumi")
    assert "pulumi is not on PATH: building v3.274.1 once, about 5 min on two cores" in said[0]
    assert "pulumi v3.274.1 built in" in said[-1]


def test_go_runs_without_flags_of_the_user_in_the_modules_folder(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOFLAGS", "-mod=mod")
    runs = fake_go(bare)
    tools.find_tool("pulumi", lambda _line: None)

    flags, folder, command = runs.read_text().strip().split("|")
    assert flags == ""
    assert str(tools.go_folder("pulumi")) == folder
    assert command.endswith("github.com/pulumi/pulumi/pkg/v3/cmd/pulumi")
    assert "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.274.1" in command


def test_the_cache_is_keyed_by_the_modules_files(bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = tools.cached_path("pulumi")
    other = tmp_path / "engine"
    other.mkdir()
    (other / "go.mod").write_text("module x\n")
    monkeypatch.setattr(tools, "go_folder", lambda _name: other)

    assert before != tools.cached_path("pulumi")


def test_without_go_it_says_which_tool_why_and_how(bare: Path) -> None:
    with pytest.raises(MissingTool) as missing:
        tools.find_tool("pulumi")

    assert missing.value.exit_code == 3
    assert "pulumi is missing, and go, which could build it, is missing too" in str(missing.value)
    assert "why:" in str(missing.value)
    assert "fix:  install Go 1.26 or newer, or put the official pulumi on PATH" in str(missing.value)


def test_a_failed_build_tells_gos_last_words_and_leaves_nothing(bare: Path) -> None:
    fake_go(bare, body='echo "undefined: thing" >&2; exit 1')
    with pytest.raises(MissingTool) as missing:
        tools.find_tool("pulumi", lambda _line: None)

    assert "undefined: thing" in str(missing.value)
    assert "go: downloading" not in str(missing.value)
    assert not tools.cached_path("pulumi").exists()


def test_an_interrupted_build_leaves_no_half_binary(bare: Path, tmp_path: Path) -> None:
    fake_go(bare, body="sleep 30")
    program = "from gpukit_sandbox import tools; tools.find_tool('pulumi')"
    process = subprocess.Popen([sys.executable, "-c", program], env={**os.environ}, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 20
    while not (bare / "runs").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.terminate()
    process.wait(timeout=20)
    if process.stderr is not None:
        process.stderr.close()

    assert not tools.cached_path("pulumi").exists()
    assert [p for p in tools.cached_path("pulumi").parent.rglob("pulumi") if p.is_file()] == []


def test_two_at_once_build_once(bare: Path) -> None:
    runs = fake_go(bare, body="sleep 0.5")
    found: list[Path] = []
    threads = [
        threading.Thread(target=lambda: found.append(tools.find_tool("pulumi", lambda _line: None))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert len(found) == 2
    assert found[0] == found[1]
    assert len(runs.read_text().splitlines()) == 1


def test_an_unknown_tool_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="no tool is called 'pulum'"):
        tools.find_tool("pulum")


@pytest.mark.parametrize("name", sorted(tools.TOOLS))
def test_every_tool_says_what_it_is_for(name: str) -> None:
    tool = tools.TOOLS[name]

    assert tool.what_for
    assert tool.minutes > 0
    assert tool.version.startswith("v")


@pytest.mark.parametrize("file", ["go.mod", "go.sum"])
def test_the_engines_module_is_pinned(file: str) -> None:
    text = (tools.go_folder("pulumi") / file).read_text(encoding="utf-8")

    assert "github.com/pulumi/pulumi/pkg/v3 v3.274.1" in text
