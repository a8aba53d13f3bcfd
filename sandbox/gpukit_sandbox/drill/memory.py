"""How much memory the drill takes: the sandbox's parts, the engine and its plug-ins, and this process, looked at twice a second."""

import os
import threading
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Final, Self

LOOK_SECONDS: Final = 0.5


class MemoryWatch:
    """Keeps the highest sum of resident memory, in MiB, of some processes and all that descend from them."""

    def __init__(self) -> None:
        """Watch this process and its children; more roots may be added while it runs."""
        self.peak_mib = 0.0
        self._roots: set[int] = {os.getpid()}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def add(self, pids: Iterable[int]) -> None:
        """Count these processes too: the sandbox's parts are in sessions of their own."""
        self._roots |= set(pids)

    def __enter__(self) -> Self:
        """Start looking."""
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Look no longer."""
        self._end.set()
        self._thread.join(timeout=2)

    def _watch(self) -> None:
        while not self._end.wait(LOOK_SECONDS):
            self.peak_mib = max(self.peak_mib, resident_mib(self._roots))


def resident_mib(roots: Iterable[int]) -> float:
    """Return the proportional resident memory of processes and their descendants; 0 where /proc does not tell."""
    parents = _parents()
    wanted = set(roots)
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in wanted} - wanted
        wanted |= more
        grown = bool(more)
    return sum(map(_pss_kib, wanted)) / 1024


def _parents() -> dict[int, int]:
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        found[int(entry.name)] = int(text[text.rindex(")") + 2 :].split()[1])
    return found


def _pss_kib(pid: int) -> int:
    """Shared pages count once over all processes: eleven Python processes share much."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    except OSError:
        pass
    return 0
