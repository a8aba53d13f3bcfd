"""
Start, watch and end the processes of a sandbox: by their own id, with a log file each, never by name.

A process is remembered as id plus start time. An id that another process has taken since is never signalled.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox.errors import PartFailed

LOG_LINES_SHOWN: Final = 12
_POLL_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One running process of the sandbox."""

    name: str
    pid: int
    started_at: int
    """Start time in clock ticks since boot, as /proc says: it tells this process from a later one with the same id. 0 where unknown."""
    log: str

    def to_json(self) -> dict[str, Any]:
        """Return the record that `part_from_json` reads."""
        return asdict(self)


def part_from_json(record: Mapping[str, Any]) -> Part:
    """Return the part that `to_json` wrote."""
    return Part(
        name=str(record["name"]),
        pid=int(record["pid"]),
        started_at=int(record.get("started_at", 0)),
        log=str(record.get("log", "")),
    )


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that was free a moment ago."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_part(
    name: str, command: Sequence[str], *, log: Path, environment: Mapping[str, str], cwd: Path | None = None
) -> Part:
    """
    Start a process in a session of its own, so that Ctrl-C in the terminal does not reach it, and return its record.

    Raises PartFailed when the executable cannot be started.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as sink:
        try:
            process = subprocess.Popen(
                list(command),
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env=dict(environment),
                cwd=cwd,
                start_new_session=True,
                close_fds=True,
            )
        except OSError as problem:
            raise PartFailed(f"{name} cannot be started: {problem.strerror}", why=f"command {command[0]}") from problem
    _children[process.pid] = process
    return Part(name=name, pid=process.pid, started_at=_start_time(process.pid), log=str(log))


def is_running(part: Part) -> bool:
    """Tell whether exactly this process still runs; a zombie and a recycled id do not count."""
    child = _children.get(part.pid)
    if child is not None and child.poll() is not None:
        return False
    try:
        os.kill(part.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    if _process_state(part.pid) == "Z":
        return False
    now = _start_time(part.pid)
    return now == part.started_at or part.started_at == 0 or now == 0


def wait_until_ready(part: Part, ready: Callable[[], bool], *, timeout_seconds: float) -> None:
    """Wait until `ready` says so. Raises PartFailed with the end of the log when the process ends first or the time runs out."""
    deadline = time.monotonic() + timeout_seconds
    while True:
        if ready():
            return
        if not is_running(part):
            raise PartFailed(
                f"{part.name} ended before it was ready", why=log_tail(part), fix=f"the whole log is {part.log}"
            )
        if time.monotonic() > deadline:
            raise PartFailed(
                f"{part.name} was not ready within {timeout_seconds:.0f} s",
                why=log_tail(part),
                fix=f"the whole log is {part.log}",
            )
        time.sleep(_POLL_SECONDS)


def end_part(part: Part, *, patience_seconds: float = 10.0) -> None:
    """End one process: ask, wait, then insist. Does nothing when it has gone already."""
    for sign, patience in ((signal.SIGTERM, patience_seconds), (signal.SIGKILL, 5.0)):
        if not is_running(part):
            break
        with contextlib.suppress(ProcessLookupError):
            os.kill(part.pid, sign)
        deadline = time.monotonic() + patience
        while is_running(part) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
    child = _children.pop(part.pid, None)
    if child is not None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(timeout=1)


def end_parts(parts: Sequence[Part]) -> None:
    """End parts in the reverse of the order they were started in, waiting for each."""
    for part in reversed(parts):
        end_part(part)


def log_tail(part: Part, lines: int = LOG_LINES_SHOWN) -> str:
    """Return the last lines of a part's log, or a word that it is empty."""
    try:
        with open(part.log, "rb") as source:
            source.seek(0, os.SEEK_END)
            source.seek(max(0, source.tell() - 32_768))
            text = source.read().decode("utf-8", errors="replace")
    except OSError:
        return "no log"
    return "\n        ".join(text.splitlines()[-lines:]) or "its log is empty"


def accepts_connections(port: int) -> bool:
    """Tell whether something listens on a port of 127.0.0.1."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0


# Children of this very process have to be reaped here, or they stay as zombies and look alive to kill(pid, 0).
_children: "dict[int, subprocess.Popen[bytes]]" = {}


def _stat_fields(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    # The command name is in parentheses and may hold spaces: count from the last one.
    return text[text.rindex(")") + 2 :].split()


def _process_state(pid: int) -> str:
    fields = _stat_fields(pid)
    return fields[0] if fields else ""


def _start_time(pid: int) -> int:
    fields = _stat_fields(pid)
    return int(fields[19]) if len(fields) > 19 else 0
