"""
Kueue as the queue of a replay: it gets Workloads, as its own job controllers make them, and decides by quota, cohort and topology.

The controller's part is played here: an ended job's workload goes, an evicted one gives its quota back and waits again. No pods are made; none are needed
for the decision, and a day would take a day.
"""

import time
from collections.abc import Mapping
from typing import Any, Final

from gpukit.kube.jobs import GangJob, render_gang_job
from gpukit.kube.queues import TeamQueue, render_queues
from gpukit.kube.topology import KUEUE_API
from gpukit_sandbox.drill.cluster import IMAGE, DrillCluster
from gpukit_sandbox.drill.day import TEAMS, TracedJob, make_day
from gpukit_sandbox.drill.record import PromiseBroken, Say
from gpukit_sandbox.drill.replay import Decisions, replay

SEED: Final = 20_261_201
LOAD: Final = 0.85
QUIET_SECONDS: Final = 0.4
QUIET_AFTER_END_SECONDS: Final = 1.4
"""Kueue looks again at waiting workloads up to a second after something ended (its requeue batch period)."""
PATIENCE_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 0.15


class KueueDay:
    """A day's queue on a cluster whose queues are there."""

    def __init__(self, cluster: DrillCluster) -> None:
        """Bind the cluster; it must have no other jobs."""
        self.cluster = cluster
        self._running: set[str] = set()
        self._teams: dict[str, str] = {}
        self._gpus: dict[str, int] = {}
        self._ended = False

    def submit(self, job: TracedJob) -> None:
        """Create a job's workload."""
        pool = self.cluster.pool
        per_pod = min(job.gpus, pool.gpus_per_node)
        pods = max(1, job.gpus // pool.gpus_per_node)
        gang = GangJob(name=job.name, namespace=job.team, queue=job.team, pods=pods, gpus_per_pod=per_pod, image=IMAGE)
        template = render_gang_job(gang, pool)["spec"]["template"]
        self._teams[job.name], self._gpus[job.name] = job.team, per_pod
        self.cluster.api.create(
            {
                "apiVersion": KUEUE_API,
                "kind": "Workload",
                "metadata": {"name": job.name, "namespace": job.team},
                "spec": {
                    "queueName": job.team,
                    "priority": 0,
                    "podSets": [
                        {
                            "name": "main",
                            "count": pods,
                            "template": template,
                            "topologyRequest": {"unconstrained": True},
                        }
                    ],
                },
            }
        )

    def finish(self, job: TracedJob) -> None:
        """Take an ended job's workload away."""
        self._running.discard(job.name)
        team = self._teams.pop(job.name)
        self.cluster.api.patch(KUEUE_API, "Workload", job.name, {"metadata": {"finalizers": None}}, namespace=team)
        self.cluster.api.delete(KUEUE_API, "Workload", job.name, team)
        self._ended = True

    def settle(self) -> Decisions:
        """Wait until Kueue has looked at everything and changes nothing more; return what it decided."""
        quiet = QUIET_AFTER_END_SECONDS if self._ended and len(self._teams) > len(self._running) else QUIET_SECONDS
        self._ended = False
        deadline = time.monotonic() + PATIENCE_SECONDS
        evicted: list[str] = []
        before: Any = None
        changed = time.monotonic()
        while True:
            workloads = self._workloads()
            for name, workload in workloads.items():
                if _is(workload, "Evicted") and (workload.get("status") or {}).get("admission"):
                    self._give_back(workload)
                    evicted.append(name)
            now = {
                name: (bool((each.get("status") or {}).get("admission")), _is(each, "Evicted"), _judged(each))
                for name, each in workloads.items()
            }
            if now != before:
                before, changed = now, time.monotonic()
            waiting = [name for name, (admitted, _, _) in now.items() if not admitted]
            judged = all(state[2] for state in now.values())
            if judged and (not waiting or time.monotonic() - changed >= quiet):
                break
            if time.monotonic() > deadline:
                raise PromiseBroken(
                    f"Kueue has not decided on {len(waiting)} workloads",
                    where=f"workload {waiting[0] if waiting else ''}",
                )
            time.sleep(LOOK_SECONDS)
        admitted = {name for name, state in now.items() if state[0]}
        gone = [name for name in evicted if name in self._running]
        self._running -= set(gone)
        started = {name: self._hosts(workloads[name]) for name in sorted(admitted - self._running)}
        self._running |= admitted
        return Decisions(started=started, evicted=tuple(gone))

    def _workloads(self) -> dict[str, dict[str, Any]]:
        return {
            each["metadata"]["name"]: each
            for each in self.cluster.api.list(KUEUE_API, "Workload")
            if each["metadata"]["name"] in self._teams and not each["metadata"].get("deletionTimestamp")
        }

    def _give_back(self, workload: Mapping[str, Any]) -> None:
        """Clear the admission of an evicted workload, as a job's controller does once its pods have gone."""
        kept = [dict(each) for each in workload["status"]["conditions"]]
        for each in kept:
            if each["type"] in ("QuotaReserved", "Admitted"):
                each |= {"status": "False", "reason": "Pending", "message": "the pods have gone"}
        self.cluster.api.patch(
            KUEUE_API,
            "Workload",
            workload["metadata"]["name"],
            {"status": {"admission": None, "conditions": kept}},
            namespace=workload["metadata"]["namespace"],
            subresource="/status",
        )

    def _hosts(self, workload: Mapping[str, Any]) -> dict[str, int]:
        per_pod = self._gpus[workload["metadata"]["name"]]
        assignment = workload["status"]["admission"]["podSetAssignments"][0].get("topologyAssignment") or {}
        return {host: pods * per_pod for host, pods in decode_assignment(assignment).items()}


def decode_assignment(assignment: Mapping[str, Any]) -> dict[str, int]:
    """Return pods by host from Kueue's packed form: values by prefix, roots and suffix; counts for all or one by one."""
    found: dict[str, int] = {}
    for piece in assignment.get("slices", []):
        values, counts, number = piece["valuesPerLevel"][-1], piece["podCounts"], piece["domainCount"]
        if "universal" in values:
            hosts = [values["universal"]] * number
        else:
            each = values["individual"]
            hosts = [f"{each.get('prefix') or ''}{root}{each.get('suffix') or ''}" for root in each["roots"]]
        pods = [counts["universal"]] * number if "universal" in counts else counts["individual"]
        for host, count in zip(hosts, pods, strict=True):
            found[host] = found.get(host, 0) + count
    return found


def compare_days(cluster: DrillCluster, say: Say) -> "list[dict[str, Any]]":
    """Replay the same day twice, with a partition a team and with one cohort, and return a line for each."""
    pool = cluster.pool
    day = make_day(SEED, gpus=pool.gpus, load=LOAD)
    rows = []
    for name, static in (("static partition", True), ("shared cohort", False)):
        _make_queues(cluster, static=static)
        say(f"{name}: {len(day)} jobs")
        rows.append(replay(day, KueueDay(cluster), hosts=pool.nodes, gpus_per_host=pool.gpus_per_node).to_row(name))
        _clear(cluster)
    return rows


def _make_queues(cluster: DrillCluster, *, static: bool) -> None:
    teams = [TeamQueue(name=team.name, gpus=int(cluster.pool.gpus * team.share)) for team in TEAMS]
    for manifest in render_queues(cluster.plan, teams, cohort="replay", static=static):
        cluster.api.apply(manifest)
    names = {team.name for team in TEAMS}

    def active() -> bool:
        queues = [each for each in cluster.api.list(KUEUE_API, "ClusterQueue") if each["metadata"]["name"] in names]
        return len(queues) == len(names) and all(_is(each, "Active") for each in queues)

    cluster.wait(active, what="the queues of the day active", where="kubectl describe clusterqueue", seconds=30)


def _clear(cluster: DrillCluster) -> None:
    names = {team.name for team in TEAMS}
    for workload in cluster.api.list(KUEUE_API, "Workload"):
        metadata = workload["metadata"]
        if metadata["namespace"] in names:
            cluster.api.patch(
                KUEUE_API,
                "Workload",
                metadata["name"],
                {"metadata": {"finalizers": None}},
                namespace=metadata["namespace"],
            )
            cluster.api.delete(KUEUE_API, "Workload", metadata["name"], metadata["namespace"])
    for name in sorted(names):
        cluster.api.delete(KUEUE_API, "LocalQueue", name, name)
        cluster.api.delete(KUEUE_API, "ClusterQueue", name)
    cluster.wait(
        lambda: not [each for each in cluster.api.list(KUEUE_API, "ClusterQueue") if each["metadata"]["name"] in names],
        what="the queues of the day gone",
        where="kubectl get clusterqueue",
        seconds=30,
    )


def _is(thing: Mapping[str, Any], kind: str) -> bool:
    return any(
        each["type"] == kind and each["status"] == "True"
        for each in (thing.get("status") or {}).get("conditions") or []
    )


def _judged(workload: Mapping[str, Any]) -> bool:
    """Whether Kueue has said yes or no to a workload."""
    return any(
        each["type"] == "QuotaReserved" and each.get("message") != "the pods have gone"
        for each in (workload.get("status") or {}).get("conditions") or []
    )
