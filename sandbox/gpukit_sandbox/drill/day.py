"""
A day of jobs of several teams, from a seed: sizes and durations in the shape of a published trace.

Source of the shape: Hu et al., "Characterization and Prediction of Deep Learning Workloads in Large-Scale GPU Datacenters", SC 2021 (the Helios trace): most
jobs use one GPU, jobs of eight and more are few and hold most of the GPU time, half of all jobs end within minutes, submissions follow the day. The numbers
are in `data/job_shape.csv`, with what is estimated among them.
"""

import csv
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DAY_SECONDS: Final = 86_400
SHORTEST_SECONDS: Final = 1800
"""Shorter jobs are four fifths of such a trace and a thirtieth of its GPU time: they are left out, so that a day has a hundred jobs and not a thousand."""
LONGEST_SECONDS: Final = DAY_SECONDS
DAYTIME_SWING: Final = 0.8
"""How much a team's submissions rise and fall around their mean over its day."""
REFERENCE_GPUS: Final = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """A team, its share of the GPUs, and where its day begins."""

    name: str
    share: float
    day_starts_hour: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TracedJob:
    """One job of the day; times in seconds from midnight."""

    name: str
    team: str
    gpus: int
    submitted: float
    seconds: float


TEAMS: Final = (
    Team(name="language", share=0.5, day_starts_hour=8),
    Team(name="vision", share=0.25, day_starts_hour=14),
    Team(name="speech", share=0.25, day_starts_hour=20),
)
"""Three teams on three continents: each is busy when another sleeps, which is what a shared cohort lives on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    gpus: int
    share: float
    median_seconds: float
    sigma: float


def make_day(seed: int, *, gpus: int, load: float, teams: Sequence[Team] = TEAMS) -> tuple[TracedJob, ...]:
    """
    Return a day of jobs that ask, in all, for `load` times the GPU time that the cluster has; sorted by submission, the same for the same seed.

    On clusters larger than 64 GPUs the jobs are larger in proportion, not more: a day stays a hundred jobs. No job asks for more than its team's share,
    or it would never start in a partition of its own.
    """
    dice = random.Random(seed)
    shapes = _read_shapes()
    scale = max(1, gpus // REFERENCE_GPUS)
    jobs: list[TracedJob] = []
    for team in teams:
        budget, asked = load * team.share * gpus * DAY_SECONDS, 0.0
        while asked < budget:
            shape = dice.choices(shapes, weights=[each.share for each in shapes])[0]
            size = min(shape.gpus * scale, _power_of_two_below(int(gpus * team.share)))
            seconds = _duration(dice, shape)
            # The last job of the budget is cut, so that each seed asks for the same.
            seconds = max(SHORTEST_SECONDS, min(seconds, (budget - asked) / size))
            asked += size * seconds
            jobs.append(
                TracedJob(name="", team=team.name, gpus=size, submitted=_submission(dice, team), seconds=round(seconds))
            )
    ordered = sorted(jobs, key=lambda job: (job.submitted, job.team, job.gpus, job.seconds))
    return tuple(
        TracedJob(name=f"job-{number:04d}", team=job.team, gpus=job.gpus, submitted=job.submitted, seconds=job.seconds)
        for number, job in enumerate(ordered)
    )


def _duration(dice: random.Random, shape: _Shape) -> float:
    while True:
        seconds = dice.lognormvariate(math.log(shape.median_seconds), shape.sigma)
        if SHORTEST_SECONDS <= seconds <= LONGEST_SECONDS:
            return seconds


def _submission(dice: random.Random, team: Team) -> float:
    """Draw from a rate that swings once a day around the middle of the team's working hours."""
    middle = (team.day_starts_hour + 5) * 3600
    while True:
        moment = dice.uniform(0, DAY_SECONDS)
        rate = 1 + DAYTIME_SWING * math.cos(2 * math.pi * (moment - middle) / DAY_SECONDS)
        if dice.uniform(0, 1 + DAYTIME_SWING) <= rate:
            return round(moment)


def _power_of_two_below(number: int) -> int:
    return 1 << max(0, number.bit_length() - 1)


def _read_shapes() -> list[_Shape]:
    with (Path(__file__).parent / "data" / "job_shape.csv").open(encoding="utf-8", newline="") as source:
        return [
            _Shape(
                gpus=int(row["gpus"]),
                share=float(row["share_of_jobs"]),
                median_seconds=float(row["median_seconds"]),
                sigma=float(row["sigma"]),
            )
            for row in csv.DictReader(source)
        ]
