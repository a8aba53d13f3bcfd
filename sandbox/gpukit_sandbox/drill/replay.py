"""
Replay a day of jobs against a queue: the clock is counted, the decisions are the queue's.

Discrete events: at each submission and each end the queue is told, then asked who runs now. Between events nothing can change, so a day takes as long as
its events, and no job is too short to be counted right. What a preempted job did since its last checkpoint is lost and does not count as use.
"""

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from gpukit_sandbox.drill.day import DAY_SECONDS, TracedJob

CHECKPOINT_SECONDS: Final = 1800
"""Work since the last checkpoint is lost at a preemption."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decisions:
    """What a queue decided since the last question: who runs, and with how many GPUs on which host; who had to give way."""

    started: Mapping[str, Mapping[str, int]]
    evicted: tuple[str, ...] = ()


class Queue(Protocol):
    """What decides: Kueue in the drill, a few lines in the tests."""

    def submit(self, job: TracedJob) -> None:
        """Hear of a job."""

    def finish(self, job: TracedJob) -> None:
        """Hear that a job has ended."""

    def settle(self) -> Decisions:
        """Return what was decided, once nothing more will be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a day."""

    jobs: int
    finished: int
    utilization_pct: float
    """GPU time of work that counts, of all GPU time of the day."""
    lost_pct: float
    """GPU time of work that a preemption threw away."""
    wait_p50_minutes: float
    wait_p95_minutes: float
    """From submission to the first start; a job that never started waited until midnight."""
    fragmentation_pct: float
    """Of the GPU time that was free, the part on hosts that were not wholly free: a job of whole hosts could not use it."""
    preemptions: int

    def to_row(self, name: str) -> dict[str, Any]:
        """Return a line of the report."""
        return {
            "queues": name,
            "jobs": self.jobs,
            "finished": self.finished,
            "utilization_pct": round(self.utilization_pct, 1),
            "lost_pct": round(self.lost_pct, 1),
            "wait_p50_minutes": round(self.wait_p50_minutes, 1),
            "wait_p95_minutes": round(self.wait_p95_minutes, 1),
            "fragmentation_pct": round(self.fragmentation_pct, 1),
            "preemptions": self.preemptions,
        }


@dataclass(slots=True)
class _Life:
    job: TracedJob
    left: float
    started: float | None = None
    first_start: float | None = None
    run: int = 0
    hosts: Mapping[str, int] = field(default_factory=dict)
    done: bool = False


def replay(jobs: Sequence[TracedJob], queue: Queue, *, hosts: int, gpus_per_host: int) -> Outcome:
    """Return what comes of a day's jobs when `queue` decides."""
    lives = {job.name: _Life(job=job, left=job.seconds) for job in jobs}
    events: list[tuple[float, int, str, int]] = [(job.submitted, 1, job.name, 0) for job in jobs]
    heapq.heapify(events)
    capacity = hosts * gpus_per_host
    clock = useful = lost = free_time = broken_time = 0.0
    preemptions = 0
    while events and events[0][0] < DAY_SECONDS:
        now = events[0][0]
        free, broken = _free_gpus(lives.values(), hosts, gpus_per_host)
        free_time, broken_time = free_time + free * (now - clock), broken_time + broken * (now - clock)
        clock = now
        while events and events[0][0] == now:
            _, kind, name, run = heapq.heappop(events)
            life = lives[name]
            if kind == 1:
                queue.submit(life.job)
            elif life.started is not None and life.run == run:
                useful += life.job.gpus * (now - life.started)
                life.started, life.hosts, life.done = None, {}, True
                queue.finish(life.job)
        decided = queue.settle()
        for name in decided.evicted:
            life = lives[name]
            if life.started is None:
                continue
            ran = now - life.started
            kept = math.floor(ran / CHECKPOINT_SECONDS) * CHECKPOINT_SECONDS
            useful, lost = useful + life.job.gpus * kept, lost + life.job.gpus * (ran - kept)
            life.left, life.started, life.hosts = life.left - kept, None, {}
            preemptions += 1
        for name, places in decided.started.items():
            life = lives[name]
            life.started, life.hosts, life.run = now, dict(places), life.run + 1
            life.first_start = now if life.first_start is None else life.first_start
            heapq.heappush(events, (now + life.left, 0, name, life.run))
    free, broken = _free_gpus(lives.values(), hosts, gpus_per_host)
    free_time, broken_time = free_time + free * (DAY_SECONDS - clock), broken_time + broken * (DAY_SECONDS - clock)
    useful += sum(life.job.gpus * (DAY_SECONDS - life.started) for life in lives.values() if life.started is not None)
    waits = sorted(
        ((DAY_SECONDS if life.first_start is None else life.first_start) - life.job.submitted) / 60
        for life in lives.values()
    )
    whole = capacity * DAY_SECONDS
    return Outcome(
        jobs=len(jobs),
        finished=sum(life.done for life in lives.values()),
        utilization_pct=100 * useful / whole,
        lost_pct=100 * lost / whole,
        wait_p50_minutes=_percentile(waits, 50),
        wait_p95_minutes=_percentile(waits, 95),
        fragmentation_pct=100 * broken_time / free_time if free_time else 0.0,
        preemptions=preemptions,
    )


def _free_gpus(lives: Any, hosts: int, gpus_per_host: int) -> tuple[int, int]:
    """Return the free GPUs, and those of them on hosts that are partly taken."""
    taken: dict[str, int] = {}
    for life in lives:
        if life.started is not None:
            for host, gpus in life.hosts.items():
                taken[host] = taken.get(host, 0) + gpus
    free = hosts * gpus_per_host - sum(taken.values())
    return free, sum(gpus_per_host - gpus for gpus in taken.values() if 0 < gpus < gpus_per_host)


def _percentile(values: Sequence[float], percent: float) -> float:
    """Return the smallest value that at least `percent` of all are not above; 0 for none."""
    if not values:
        return 0.0
    return values[max(0, math.ceil(percent / 100 * len(values)) - 1)]
