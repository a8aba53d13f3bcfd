"""
Where a sandbox keeps its things: one directory a name, a JSON file written atomically, a lock.

`$XDG_STATE_HOME/gpukit/sandboxes/<name>`, or `~/.local/state/gpukit/sandboxes/<name>`. Two names never share anything but the tool cache.
"""

import contextlib
import fcntl
import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox.errors import UnknownName

_DEFAULT_PROVIDER: Final = re.compile(r"::pulumi:providers:[^:]+::default(_[0-9A-Za-z_]+)?$")
DEFAULT_NAME: Final = "default"
_NAME: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class StateDirectory:
    """The paths of one sandbox; making the value touches no disk."""

    name: str
    root: Path

    @property
    def bin(self) -> Path:
        """Generated executables: the language host and the provider."""
        return self.root / "bin"

    @property
    def logs(self) -> Path:
        """One log file a part."""
        return self.root / "logs"

    @property
    def cloud(self) -> Path:
        """What the AWS double keeps: its world and `cloud.json` with the endpoint."""
        return self.root / "cloud"

    @property
    def stacks(self) -> Path:
        """The engine's own state, the file backend."""
        return self.root / "stacks"

    @property
    def creations(self) -> Path:
        """The provider's notes of creations that the engine has not confirmed yet."""
        return self.root / "creations"

    @property
    def file(self) -> Path:
        """The sandbox's own record: processes and endpoints."""
        return self.root / "sandbox.json"

    def exists(self) -> bool:
        """Tell whether this sandbox was ever started and not purged."""
        return self.file.is_file()

    def make(self) -> None:
        """Create the directories; readable by their owner alone."""
        for folder in (self.root, self.bin, self.logs, self.cloud, self.stacks, self.creations):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def read(self) -> dict[str, Any]:
        """Return the recorded state, or an empty mapping when there is none."""
        return read_json(self.file)

    def write(self, state: dict[str, Any]) -> None:
        """Replace the recorded state in one step."""
        write_json(self.file, state)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the sandbox's lock: starting and ending happen once at a time."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.root / ".lock").open("w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def sandboxes_directory() -> Path:
    """Return the directory that holds every sandbox of this user."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".local" / "state") / "gpukit" / "sandboxes"


def state_directory(name: str = DEFAULT_NAME) -> StateDirectory:
    """Return the directory of a sandbox. Raises UnknownName for a name that could leave its place."""
    if not _NAME.fullmatch(name):
        raise UnknownName(
            f"{name!r} cannot name a sandbox",
            why="the name becomes a directory",
            fix="use 1 to 32 of a-z, 0-9 and -, not at the ends",
        )
    return StateDirectory(name=name, root=sandboxes_directory() / name)


def stack_resources(file: Path) -> list[dict[str, Any]]:
    """Return all that the engine's state file of a stack holds; empty when there is no such file."""
    latest = (read_json(file).get("checkpoint") or {}).get("latest") or {}
    return list(latest.get("resources") or [])


def made_in_cloud(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those that stand in a cloud: without the stack itself, components and providers."""
    return [item for item in resources if item.get("custom") and not item["type"].startswith("pulumi:")]


def counted_by_engine(resources: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return those in the sums of `pulumi up`: providers that the engine makes by itself are not among them."""
    return [item for item in resources if not _DEFAULT_PROVIDER.search(str(item.get("urn", "")))]


def read_json(path: Path) -> dict[str, Any]:
    """Return the mapping in a JSON file; empty when the file is absent or not one."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return value if isinstance(value, dict) else {}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a mapping so that a reader sees the old file or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as sink:
            json.dump(value, sink, indent=2, sort_keys=True)
            sink.write("\n")
        os.replace(scratch, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(scratch)
        raise
