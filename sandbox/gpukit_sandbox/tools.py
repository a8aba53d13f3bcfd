"""
Find the tools of the sandbox: on PATH, else in the cache, else built from the Go modules under `sandbox/go/`.

A built tool lies in `<cache>/tools/<name>/<version>-<hash of go.mod and go.sum>/<binary>`, so a changed pin never meets an old binary.
"""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpukit_sandbox.errors import MissingTool, UnknownName

Progress = Callable[[str], None]

GO_DOWNLOAD_HINT: Final = "install Go 1.26 or newer, or put the official {binary} on PATH"
PROGRESS_EVERY_SECONDS: Final = 15.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One executable that the sandbox runs, and how to build it when the machine lacks it."""

    name: str
    binary: str
    folder: str
    """The folder under `sandbox/go/` that holds its go.mod."""
    package: str
    version: str
    ldflags: str = "-s -w"
    minutes: int
    """What a build takes from an empty Go cache on two cores."""
    what_for: str


_KUBERNETES_LDFLAGS: Final = (
    "-s -w -X k8s.io/component-base/version.gitVersion=v1.36.3"
    " -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"
)

TOOLS: Final[dict[str, Tool]] = {
    tool.name: tool
    for tool in (
        Tool(
            name="pulumi",
            binary="pulumi",
            folder="engine",
            package="github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
            version="v3.274.1",
            # Without the version the engine calls itself 0.0.0 and its version checks fail.
            ldflags="-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version=v3.274.1",
            minutes=5,
            what_for="runs `pulumi preview` and `pulumi up`",
        ),
        Tool(
            name="etcd",
            binary="etcd",
            folder="etcd",
            package="go.etcd.io/etcd/server/v3",
            version="v3.6.16",
            minutes=1,
            what_for="keeps the state of the control plane",
        ),
        *(
            Tool(
                name=name,
                binary=name,
                folder="kubernetes",
                package=f"k8s.io/kubernetes/cmd/{name}",
                version="v1.36.3",
                ldflags=_KUBERNETES_LDFLAGS,
                minutes=6,
                what_for="part of the Kubernetes control plane",
            )
            for name in ("kube-apiserver", "kube-scheduler", "kube-controller-manager")
        ),
        Tool(
            name="kwok",
            binary="kwok",
            folder="kwok",
            package="sigs.k8s.io/kwok/cmd/kwok",
            version="v0.8.0",
            minutes=2,
            what_for="stands in for the kubelets of GPU nodes",
        ),
        Tool(
            name="kueue",
            binary="kueue",
            folder="kueue",
            package="sigs.k8s.io/kueue/cmd/kueue",
            version="v0.17.0",
            minutes=4,
            what_for="admits gang jobs",
        ),
        Tool(
            name="pulumi-resource-kubernetes",
            binary="pulumi-resource-kubernetes",
            folder="pulumi-kubernetes",
            package=".",
            version="v4.34.2",
            minutes=10,
            what_for="lets Pulumi programs reach a Kubernetes control plane",
        ),
    )
}


def cache_directory() -> Path:
    """Return gpukit's cache, `$XDG_CACHE_HOME/gpukit` or `~/.cache/gpukit`; it is not created here."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "gpukit"


def find_tool(name: str, progress: Progress | None = None) -> Path:
    """
    Return the path of a tool: on PATH, else from the cache, else built now.

    Raises MissingTool when it has to be built and cannot be.
    """
    found = installed_tool(name)
    return found if found is not None else build_tool(name, progress)


def installed_tool(name: str) -> Path | None:
    """Return a tool's path if it is on PATH or in the cache, else None; builds nothing."""
    tool = _tool(name)
    on_path = shutil.which(tool.binary)
    if on_path is not None:
        return Path(on_path)
    cached = cached_path(name)
    return cached if cached.is_file() and os.access(cached, os.X_OK) else None


def cached_path(name: str) -> Path:
    """Return where a built tool lies or would lie: keyed by its name, version and the hash of its go.mod and go.sum."""
    tool = _tool(name)
    source = go_folder(name)
    digest = hashlib.sha256()
    for file in ("go.mod", "go.sum"):
        path = source / file
        digest.update(path.read_bytes() if path.is_file() else b"")
    digest.update(f"{tool.package}\0{tool.ldflags}".encode())
    return cache_directory() / "tools" / name / f"{tool.version}-{digest.hexdigest()[:12]}" / tool.binary


def go_folder(name: str) -> Path:
    """Return the folder with a tool's go.mod: in the checkout, else in the installed wheel."""
    tool = _tool(name)
    here = Path(__file__).resolve().parent
    candidates = (here.parent / "go" / tool.folder, here / "_shipped" / "go" / tool.folder)
    for folder in candidates:
        if (folder / "go.mod").is_file():
            return folder
    return candidates[0]


def build_tool(name: str, progress: Progress | None = None) -> Path:
    """
    Build a tool from its pinned Go module into the cache and return its path.

    Two processes never build the same tool twice: the second waits for the first. The binary appears by a rename, so an interrupted
    build leaves none. Raises MissingTool with the end of Go's own words when it fails.
    """
    tool = _tool(name)
    say = progress or _say_on_stderr
    target = cached_path(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    with _only_one_builder(target.parent, name, say):
        if target.is_file() and os.access(target, os.X_OK):
            return target
        _require_module(tool)
        go = _require_go(tool)
        for leftover in target.parent.glob(".building-*"):
            shutil.rmtree(leftover, ignore_errors=True)
        say(
            f"{tool.binary} is not on PATH: building {tool.version} once, about {tool.minutes} min on two cores ({tool.what_for})"
        )
        started = time.monotonic()
        _run_go_build(tool, go, target, say)
        say(f"{tool.binary} {tool.version} built in {time.monotonic() - started:.0f} s")
    return target


def _tool(name: str) -> Tool:
    try:
        return TOOLS[name]
    except KeyError:
        raise UnknownName(f"no tool is called {name!r}", fix=f"use one of {', '.join(sorted(TOOLS))}") from None


def _require_module(tool: Tool) -> None:
    if not (go_folder(tool.name) / "go.mod").is_file():
        raise MissingTool(
            f"{tool.binary} is missing: it is not on PATH and this gpukit has no Go module to build it from",
            why=f"{tool.what_for}; looked for {tool.folder}/go.mod",
            fix=f"put {tool.binary} on PATH",
        )


def _require_go(tool: Tool) -> str:
    go = shutil.which("go")
    if go is None:
        raise MissingTool(
            f"{tool.binary} is missing, and go, which could build it, is missing too",
            why=f"{tool.binary} {tool.what_for}; gpukit builds it from {tool.package} {tool.version} when PATH has none",
            fix=GO_DOWNLOAD_HINT.format(binary=tool.binary),
        )
    return go


def _run_go_build(tool: Tool, go: str, target: Path, say: Progress) -> None:
    source = go_folder(tool.name)
    environment = {**os.environ, "GOFLAGS": "", "GOWORK": "off", "CGO_ENABLED": "0"}
    with tempfile.TemporaryDirectory(prefix=".building-", dir=target.parent) as scratch:
        unfinished = Path(scratch) / tool.binary
        log = Path(scratch) / "go.log"
        command = [
            go,
            "build",
            "-trimpath",
            "-mod=readonly",
            "-v",
            "-ldflags",
            tool.ldflags,
            "-o",
            str(unfinished),
            tool.package,
        ]
        with log.open("wb") as sink:
            process = subprocess.Popen(command, cwd=source, env=environment, stdout=sink, stderr=subprocess.STDOUT)
            try:
                status = _wait_with_progress(process, log, tool, say)
            except BaseException:
                process.terminate()
                process.wait()
                raise
        if status != 0 or not unfinished.is_file():
            raise MissingTool(
                f"building {tool.binary} {tool.version} failed (go build ended with {status})",
                why=_last_lines(log),
                fix="check the network and the disk, then run the command again; or put the official "
                f"{tool.binary} on PATH",
            )
        os.replace(unfinished, target)


def _wait_with_progress(process: "subprocess.Popen[bytes]", log: Path, tool: Tool, say: Progress) -> int:
    started = time.monotonic()
    while True:
        try:
            return process.wait(timeout=PROGRESS_EVERY_SECONDS)
        except subprocess.TimeoutExpired:
            say(f"  {tool.binary}: {time.monotonic() - started:4.0f} s, {_stage(log)}")


def _stage(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines:
        return "reading modules"
    downloads = sum(line.startswith("go: downloading") for line in lines)
    compiled = len(lines) - downloads
    if compiled == 0:
        return f"downloading modules ({downloads})"
    return f"compiling ({compiled} packages, now {re.sub(r'^go: ', '', lines[-1])[:60]})"


def _last_lines(log: Path, count: int = 8) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    noise = [line for line in lines if not line.startswith("go: downloading")]
    return "\n        ".join(noise[-count:] or lines[-count:] or ["go said nothing"])


@contextlib.contextmanager
def _only_one_builder(folder: Path, name: str, say: Progress) -> Iterator[None]:
    with (folder / ".lock").open("w", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say(f"another process builds {name}: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _say_on_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
