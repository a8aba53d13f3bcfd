"""What a drill writes down: steps with their times, pictures of who runs where, and the promise that broke, if one did."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

from gpukit_sandbox.errors import SandboxError

Say = Callable[[str], None]


class PromiseBroken(SandboxError):
    """Something that gpukit promises did not come true; `where` is the object to look at. Exit code 1."""

    exit_code = 1

    def __init__(self, what: str, *, where: str = "", why: str = "") -> None:
        """Keep what and where apart for the report."""
        super().__init__(what, why=why, fix=f"look at {where}" if where else "")
        self.where = where


@dataclass(slots=True, kw_only=True)
class Step:
    """One step of the drill; `result` is what was found, in a line."""

    name: str
    seconds: float = 0.0
    since_start: float = 0.0
    result: str = ""
    ok: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Host:
    """One node and the job on it; empty strings where there is none."""

    name: str
    zone: str
    rack: str
    job: str
    ready: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """All GPU nodes at one moment."""

    title: str
    hosts: tuple[Host, ...]


@dataclass(slots=True)
class Record:
    """The whole drill."""

    preset: str
    gpus: int
    nodes: int
    steps: list[Step] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    numbers: dict[str, float] = field(default_factory=dict)
    utilization: list[dict[str, Any]] = field(default_factory=list)
    broken: str = ""
    where: str = ""
    why: str = ""
    exit_code: int = 1
    """What to leave with when a promise broke: 1, or 3 when a part of the sandbox failed."""
    started: float = field(default_factory=time.monotonic)

    @property
    def ok(self) -> bool:
        """Whether every promise held."""
        return not self.broken

    @contextmanager
    def step(self, name: str, say: Say) -> Iterator[Step]:
        """Time a step; an error in it is written down as this step's result and goes on up."""
        step = Step(name=name)
        self.steps.append(step)
        say(f"{name} ...")
        begun = time.monotonic()
        try:
            yield step
        except BaseException as problem:
            step.ok = False
            step.result = problem.problem if isinstance(problem, SandboxError) else type(problem).__name__
            if not self.broken:
                self.broken = f"{name}: {step.result}"
                self.where = getattr(problem, "where", "")
                self.why = getattr(problem, "why", "") or str(problem)
            raise
        finally:
            step.seconds = round(time.monotonic() - begun, 1)
            step.since_start = round(time.monotonic() - self.started, 1)
            say(f"{name}: {step.seconds:.1f} s{', ' + step.result if step.result else ''}")

    def to_json(self) -> dict[str, Any]:
        """Return the record as plain JSON values."""
        return {
            "schema_version": 1,
            "preset": self.preset,
            "gpus": self.gpus,
            "nodes": self.nodes,
            "ok": self.ok,
            "broken": self.broken,
            "where": self.where,
            "why": self.why,
            "seconds": round(sum(step.seconds for step in self.steps), 1),
            "numbers": self.numbers,
            "steps": [asdict(step) for step in self.steps],
            "utilization": self.utilization,
            "pictures": [
                {"title": picture.title, "hosts": [asdict(host) for host in picture.hosts]} for picture in self.pictures
            ],
        }
