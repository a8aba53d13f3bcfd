"""The arithmetic of a replay, against a queue of a few lines; and the day's jobs."""

import pytest
from gpukit_sandbox.drill.day import DAY_SECONDS, TEAMS, TracedJob, make_day
from gpukit_sandbox.drill.kueue_day import decode_assignment
from gpukit_sandbox.drill.replay import Decisions, replay

HOUR = 3600.0


class FirstComeFirstServed:
    """One host after the other; a job of the team `owner` throws the others out."""

    def __init__(self, hosts: int, gpus_per_host: int) -> None:
        self.free = {f"h{number}": gpus_per_host for number in range(hosts)}
        self.waiting: list[TracedJob] = []
        self.running: dict[str, tuple[TracedJob, dict[str, int]]] = {}

    def submit(self, job: TracedJob) -> None:
        self.waiting.append(job)

    def finish(self, job: TracedJob) -> None:
        _, places = self.running.pop(job.name)
        for host, gpus in places.items():
            self.free[host] += gpus

    def settle(self) -> Decisions:
        evicted: list[str] = []
        if any(job.team == "owner" for job in self.waiting):
            for name in [name for name, (job, _) in self.running.items() if job.team != "owner"]:
                job = self.running[name][0]
                self.finish(job)
                self.waiting.append(job)
                evicted.append(name)
        started: dict[str, dict[str, int]] = {}
        for job in sorted(self.waiting, key=lambda job: (job.team != "owner", job.submitted)):
            places, wanted = {}, job.gpus
            for host, gpus in self.free.items():
                if wanted and gpus:
                    places[host] = min(gpus, wanted)
                    wanted -= places[host]
            if wanted:
                break
            for host, gpus in places.items():
                self.free[host] -= gpus
            self.running[job.name] = (job, places)
            started[job.name] = places
        self.waiting = [job for job in self.waiting if job.name not in started]
        return Decisions(started=started, evicted=tuple(evicted))


def job(name: str, gpus: int, hours: float, at: float = 0, team: str = "a") -> TracedJob:
    return TracedJob(name=name, team=team, gpus=gpus, submitted=at * HOUR, seconds=hours * HOUR)


def run(*jobs: TracedJob, hosts: int = 2) -> object:
    return replay(jobs, FirstComeFirstServed(hosts, 8), hosts=hosts, gpus_per_host=8)


def test_a_day_that_is_full_has_full_utilization_and_no_wait() -> None:
    outcome = run(job("x", 16, 24))

    assert (outcome.utilization_pct, outcome.wait_p95_minutes, outcome.lost_pct) == (100, 0, 0)


def test_a_second_job_waits_for_the_first() -> None:
    outcome = run(job("x", 16, 6), job("y", 16, 6))

    assert outcome.utilization_pct == pytest.approx(50)
    assert (outcome.wait_p50_minutes, outcome.wait_p95_minutes) == (0, 360)
    assert outcome.finished == 2


def test_work_after_the_last_checkpoint_is_lost_and_done_again() -> None:
    outcome = run(job("guest", 16, 2), job("own", 16, 1, at=0.75, team="owner"))

    # the guest ran 45 minutes: 30 count, 15 are lost, and an hour and a half is left
    assert outcome.preemptions == 1
    assert outcome.lost_pct == pytest.approx(100 * 0.25 / 24)
    assert outcome.utilization_pct == pytest.approx(100 * 3 / 24)


def test_free_gpus_on_partly_taken_hosts_are_fragments() -> None:
    outcome = run(job("small", 1, 24))

    assert outcome.fragmentation_pct == pytest.approx(100 * 7 / 15)


def test_a_job_that_never_started_waited_until_midnight() -> None:
    outcome = run(job("x", 16, 24), job("late", 8, 1, at=20))

    assert outcome.wait_p95_minutes == 240


@pytest.mark.parametrize("gpus", [64, 1024])
def test_a_day_asks_for_its_load_fits_each_teams_share_and_is_the_same_again(gpus: int) -> None:
    day = make_day(7, gpus=gpus, load=0.85)
    share = {team.name: team.share * gpus for team in TEAMS}

    assert sum(job.gpus * job.seconds for job in day) / (gpus * DAY_SECONDS) == pytest.approx(0.85, abs=0.02)
    assert all(job.gpus <= share[job.team] for job in day)
    assert make_day(7, gpus=gpus, load=0.85) == day
    assert make_day(8, gpus=gpus, load=0.85) != day


def test_most_jobs_are_small_and_large_ones_hold_most_of_the_time() -> None:
    jobs = [job for seed in range(20) for job in make_day(seed, gpus=64, load=0.85)]
    large = [job for job in jobs if job.gpus >= 8]

    assert len(large) / len(jobs) < 0.3
    assert sum(job.gpus * job.seconds for job in large) / sum(job.gpus * job.seconds for job in jobs) > 0.5


@pytest.mark.parametrize(
    ("assignment", "hosts"),
    [
        pytest.param(
            {
                "slices": [
                    {
                        "domainCount": 2,
                        "valuesPerLevel": [{"individual": {"prefix": "ip-", "suffix": ".x", "roots": ["1", "2"]}}],
                        "podCounts": {"universal": 1},
                    }
                ]
            },
            {"ip-1.x": 1, "ip-2.x": 1},
            id="prefix-and-suffix",
        ),
        pytest.param(
            {"slices": [{"domainCount": 1, "valuesPerLevel": [{"universal": "h"}], "podCounts": {"individual": [3]}}]},
            {"h": 3},
            id="one-host",
        ),
        pytest.param({}, {}, id="none"),
    ],
)
def test_kueues_packed_assignment_is_read(assignment: dict[str, object], hosts: dict[str, int]) -> None:
    assert decode_assignment(assignment) == hosts
