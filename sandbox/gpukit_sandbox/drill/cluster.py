"""What the drill looks at in the cluster: nodes, jobs, queues; and how it waits, while every part of the sandbox runs."""

import time
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Final

from gpukit.kube.jobs import GangJob, render_gang_job
from gpukit.kube.topology import COOLING_ZONE_LABEL, HOST_LABEL, KUEUE_API, topology_levels
from gpukit.plan import Plan, PoolPlan
from gpukit_sandbox.drill.record import Host, Picture, PromiseBroken
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.control_plane import require_running
from gpukit_sandbox.processes import Part

LOOK_SECONDS: Final = 0.3
IMAGE: Final = "registry.invalid/gpukit/drill@sha256:" + "0" * 64
"""Never pulled: KWOK's nodes run nothing. A digest, as policies of pinned images ask for."""


class DrillCluster:
    """The cluster of one drill."""

    def __init__(self, api: KubeApi, plan: Plan, parts: list[Part]) -> None:
        """Bind the cluster; `parts` are the processes that must run all the while."""
        self.api = api
        self.plan = plan
        self.parts = parts

    @property
    def pool(self) -> PoolPlan:
        """The GPU pool that the drill's jobs run on: the largest."""
        return max(self.plan.pools, key=lambda pool: pool.gpus)

    @property
    def rack_level(self) -> str:
        """The label of the level above the host: rack, or leaf of the network."""
        return topology_levels(self.pool)[-2]

    def wait(
        self,
        ready: Callable[[], Any],
        *,
        what: str,
        where: str,
        seconds: float,
        explain: Callable[[], str] | None = None,
    ) -> Any:
        """Return the first true value. Raises PromiseBroken after `seconds`, PartFailed when a part has ended."""
        deadline = time.monotonic() + seconds
        while True:
            value = ready()
            if value:
                return value
            require_running(self.parts)
            if time.monotonic() > deadline:
                raise PromiseBroken(
                    f"{what} did not happen within {seconds:.0f} s", where=where, why=explain() if explain else ""
                )
            time.sleep(LOOK_SECONDS)

    # Nodes

    def gpu_nodes(self) -> list[dict[str, Any]]:
        """Return the nodes that carry GPUs."""
        return [
            node
            for node in self.api.list("v1", "Node")
            if "nvidia.com/gpu" in (node.get("status", {}).get("capacity") or {})
        ]

    def ready_gpu_nodes(self) -> list[dict[str, Any]]:
        """Return those that take pods."""
        return [node for node in self.gpu_nodes() if _takes_pods(node)]

    def check_nodes(self) -> str:
        """Compare nodes with the plan: count, GPUs, EFA, every topology label. Raises PromiseBroken; returns a line."""
        nodes = self.gpu_nodes()
        by_pool = {
            pool.name: [n for n in nodes if n["metadata"]["labels"].get("gpukit/pool") == pool.name]
            for pool in self.plan.pools
        }
        for pool in self.plan.pools:
            for node in by_pool[pool.name]:
                _check_node(node, pool)
        gpus = sum(int(node["status"]["capacity"]["nvidia.com/gpu"]) for node in nodes)
        efa = sum(int(node["status"]["capacity"].get("vpc.amazonaws.com/efa", 0)) for node in nodes)
        if gpus != self.plan.totals.gpus:
            raise PromiseBroken(f"{gpus} GPUs joined, the plan has {self.plan.totals.gpus}", where="kubectl get nodes")
        if efa != self.plan.totals.efa_interfaces:
            raise PromiseBroken(
                f"{efa} EFA interfaces joined, the plan has {self.plan.totals.efa_interfaces}",
                where="kubectl get nodes",
            )
        racks = len({node["metadata"]["labels"].get(self.rack_level) for node in nodes})
        return f"{len(nodes)} GPU nodes, {gpus:,} GPUs, {efa:,} EFA interfaces, {racks} x {self.rack_level}"

    # Jobs

    def submit(
        self,
        name: str,
        team: str,
        *,
        pods: int,
        seconds: int | None = None,
        level: str | None = None,
        node_fault_seconds: int = 3,
    ) -> None:
        """Create a gang job of whole nodes; `seconds` is how long it runs, for ever without."""
        annotations = {} if seconds is None else {"pod-complete.stage.kwok.x-k8s.io/delay": f"{seconds}s"}
        job = GangJob(
            name=name,
            namespace=team,
            queue=team,
            pods=pods,
            gpus_per_pod=self.pool.gpus_per_node,
            image=IMAGE,
            level=level,
            node_fault_seconds=node_fault_seconds,
            pod_annotations=annotations,
        )
        self.api.create(render_gang_job(job, self.pool))

    def hosts_of(self, team: str, job: str) -> list[str]:
        """Return the nodes of a job's running pods."""
        pods = self.api.list("v1", "Pod", namespace=team, labels=f"job-name={job}")
        return [
            pod["spec"]["nodeName"]
            for pod in pods
            if pod["status"].get("phase") == "Running" and not pod["metadata"].get("deletionTimestamp")
        ]

    def running_pods(self, team: str, job: str) -> int:
        """Return how many pods of a job run, by the job's own count: cheap."""
        found = self.api.get("batch/v1", "Job", job, team) or {}
        return int((found.get("status") or {}).get("active") or 0) if (found.get("status") or {}).get("ready") else 0

    def ready_pods(self, team: str, job: str) -> int:
        """Return how many pods of a job are ready."""
        found = self.api.get("batch/v1", "Job", job, team) or {}
        return int((found.get("status") or {}).get("ready") or 0)

    def wait_running(self, team: str, job: str, pods: int, *, seconds: float) -> list[str]:
        """Wait until all pods of a job run; return their nodes. One pod a node is checked."""
        self.wait(
            lambda: self.ready_pods(team, job) == pods or None,
            what=f"all {pods} pods of {team}/{job} running",
            where=f"kubectl -n {team} describe workload, job {job}",
            seconds=seconds,
            explain=lambda: self.explain(team, job),
        )
        hosts = self.wait(
            lambda: found if len(found := self.hosts_of(team, job)) == pods else None,
            what=f"all {pods} pods of {team}/{job} on nodes",
            where=f"kubectl -n {team} get pods",
            seconds=20,
        )
        doubled = [host for host, count in Counter(hosts).items() if count > 1]
        if doubled:
            raise PromiseBroken(f"{len(doubled)} nodes have two pods of one gang", where=f"node {doubled[0]}")
        admission = (self.workload(team, job).get("status") or {}).get("admission") or {}
        counts = [item.get("count") for item in admission.get("podSetAssignments", [])]
        if counts != [pods]:
            raise PromiseBroken(
                f"{team}/{job} was admitted in parts: {counts}", where=f"workload of job {job} in {team}"
            )
        return list(hosts)

    def workload(self, team: str, job: str) -> dict[str, Any]:
        """Return Kueue's workload of a job; empty when there is none yet."""
        for workload in self.api.list(KUEUE_API, "Workload", namespace=team):
            if any(owner["name"] == job for owner in workload["metadata"].get("ownerReferences", [])):
                return workload
        return {}

    def condition(self, team: str, job: str, kind: str) -> Mapping[str, str]:
        """Return a condition of a job's workload."""
        conditions = (self.workload(team, job).get("status") or {}).get("conditions") or []
        return next(
            (each for each in conditions if each["type"] == kind), {"status": "Unknown", "reason": "", "message": ""}
        )

    def explain(self, team: str, job: str) -> str:
        """Return what Kueue says of a job, for a broken promise."""
        conditions = (self.workload(team, job).get("status") or {}).get("conditions") or []
        return (
            "; ".join(f"{each['type']}={each['status']} {each.get('message', '')[:200]}" for each in conditions)
            or "it has no workload"
        )

    def finish(self, team: str, job: str) -> None:
        """Take a job away, with its pods, and wait until its GPUs are free."""
        self.api.delete("batch/v1", "Job", job, team)
        self.wait(
            lambda: (
                not self.api.list("v1", "Pod", namespace=team, labels=f"job-name={job}")
                and not self.workload(team, job)
            ),
            what=f"{team}/{job} gone",
            where=f"kubectl -n {team} get pods",
            seconds=60,
        )

    def picture(self, title: str) -> Picture:
        """Return all GPU nodes with the jobs on them."""
        jobs: dict[str, str] = {}
        for pod in self.api.list("v1", "Pod"):
            owner = (pod["metadata"].get("labels") or {}).get("job-name")
            if owner and pod["spec"].get("nodeName") and pod["status"].get("phase") == "Running":
                jobs[pod["spec"]["nodeName"]] = f"{pod['metadata']['namespace']}/{owner}"
        hosts = [
            Host(
                name=node["metadata"]["name"],
                zone=node["metadata"]["labels"].get(COOLING_ZONE_LABEL)
                or node["metadata"]["labels"].get("topology.kubernetes.io/zone", ""),
                rack=node["metadata"]["labels"].get(self.rack_level, ""),
                job=jobs.get(node["metadata"]["name"], ""),
                ready=_takes_pods(node),
            )
            for node in self.gpu_nodes()
        ]
        return Picture(
            title=title, hosts=tuple(sorted(hosts, key=lambda host: (host.zone, _natural(host.rack), host.name)))
        )


def _check_node(node: Mapping[str, Any], pool: PoolPlan) -> None:
    name, labels = node["metadata"]["name"], node["metadata"]["labels"]
    missing = [label for label in topology_levels(pool) if label not in labels]
    if missing:
        raise PromiseBroken(
            f"node {name} lacks the topology label {missing[0]}",
            where=f"kubectl get node {name}",
            why="Kueue does not see such a node",
        )
    if labels[HOST_LABEL] != name:
        raise PromiseBroken(f"node {name} calls itself {labels[HOST_LABEL]}", where=f"kubectl get node {name}")
    taints = {(taint["key"], taint["effect"]) for taint in node["spec"].get("taints", [])}
    for taint in pool.node_groups[0].taints:
        if (taint.key, taint.effect) not in taints:
            raise PromiseBroken(f"node {name} lacks the taint {taint.key}", where=f"kubectl get node {name}")


def _takes_pods(node: Mapping[str, Any]) -> bool:
    ready = any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"].get("conditions", []))
    return ready and not any(taint["key"].startswith("node.kubernetes.io/") for taint in node["spec"].get("taints", []))


def _natural(text: str) -> tuple[str, int]:
    head = text.rstrip("0123456789")
    return head, int(text[len(head) :] or 0)
