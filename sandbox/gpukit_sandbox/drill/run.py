"""
The drill: from nothing to a job over every GPU, through queueing, borrowing, preemption and a node's failure, and back to nothing.

Two teams: one owns every GPU, the other owns none and lives on what is idle. That makes each rule visible by itself.
"""

import contextlib
import os
from collections import Counter
from datetime import date
from pathlib import Path
from typing import IO, Final

from gpukit.kube.queues import TeamQueue, render_queues
from gpukit.kube.topology import KUEUE_API, RACK_LABEL
from gpukit_sandbox import processes, tools
from gpukit_sandbox.cloud import world
from gpukit_sandbox.drill.cluster import DrillCluster
from gpukit_sandbox.drill.memory import MemoryWatch
from gpukit_sandbox.drill.preset_stack import PresetStack, StackUnderTest, plan_preset
from gpukit_sandbox.drill.record import PromiseBroken, Record, Say
from gpukit_sandbox.errors import PartFailed, SandboxError
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.stages import NODE_FAILS
from gpukit_sandbox.processes import Part
from gpukit_sandbox.sandbox import Sandbox

OWNER: Final = "training"
GUEST: Final = "research"
MEMORY_LIMIT_MIB: Final = 4096
BUDGET_TO_RUNNING_SECONDS: Final = {"thousand-card": 90.0}
"""From nothing to the job over all GPUs, on two idle cores with the tools in the cache."""


def run_drill(
    preset: str, *, gpus: int | None, say: Say, words: IO[str] | None = None, utilization: bool = False
) -> Record:
    """
    Run the whole drill and return its record; a broken promise is in the record, not raised.

    The sandbox is one of its own and is gone at the end, whatever happens. Raises MissingTool and PlanRefused before
    anything is started.
    """
    stack = plan_preset(preset, gpus=gpus, today=date.today())
    for tool in tools.TOOLS:
        tools.find_tool(tool, say)
    record = Record(preset=preset, gpus=stack.plan.totals.gpus, nodes=stack.plan.totals.nodes)
    box = Sandbox(f"drill-{os.getpid()}")
    with MemoryWatch() as memory:
        try:
            _Drill(box, stack, record, say, memory, words, utilization).run()
        except SandboxError as problem:
            _tell(record, problem, _parts(box))
        finally:
            _end(box, record, say, _parts(box))
    record.numbers["peak_memory_mib"] = round(memory.peak_mib)
    if record.ok and memory.peak_mib > MEMORY_LIMIT_MIB:
        record.broken = f"the drill took {memory.peak_mib:,.0f} MiB, the promise is {MEMORY_LIMIT_MIB:,}"
        record.where = "memory of the sandbox's processes"
    return record


class _Drill:
    def __init__(
        self,
        box: Sandbox,
        stack: PresetStack,
        record: Record,
        say: Say,
        memory: MemoryWatch,
        words: IO[str] | None,
        utilization: bool,
    ) -> None:
        self.box, self.stack, self.record, self.say, self.memory, self.words = box, stack, record, say, memory, words
        self.utilization = utilization
        self.plan = stack.plan

    def run(self) -> None:
        with self.record.step("sandbox and control plane", self.say) as step:
            status = self.box.up(self.say, with_kubernetes=True)
            self.memory.add(part["pid"] for part in status["parts"])
            api = KubeApi.from_kubeconfig(Path(status["kubeconfig"]))
            step.result = f"Kubernetes {api.version()}, {len(status['parts'])} processes"
        self.cluster = DrillCluster(api, self.plan, _parts(self.box))
        self.under_test = StackUnderTest(self.box, self.stack, words=self.words)
        for line in self.under_test.buy():
            self.say(line)
        self.before = world.describe_world(status["endpoint"])
        self._bring_up()
        self._run_over_all()
        self._share()
        self._lose_a_node()
        self._run_on_one_rack()
        if self.utilization:
            self._replay_a_day()
        self._take_down(status["endpoint"])

    def _bring_up(self) -> None:
        with self.record.step("pulumi up", self.say) as step:
            step.result = f"{self.under_test.up()} resources"
        with self.record.step("nodes join", self.say) as step:
            wanted = self.plan.totals.nodes
            self.cluster.wait(
                lambda: len(self.cluster.ready_gpu_nodes()) >= wanted,
                what=f"{wanted} GPU nodes Ready",
                where="kubectl get nodes; the node-joiner's log",
                seconds=120,
                explain=lambda: f"{len(self.cluster.ready_gpu_nodes())} are",
            )
            step.result = self.cluster.check_nodes()
        with self.record.step("queues", self.say) as step:
            teams = [TeamQueue(name=OWNER, gpus=self.plan.totals.gpus), TeamQueue(name=GUEST, gpus=0)]
            for manifest in render_queues(self.plan, teams):
                self.cluster.api.apply(manifest)
            self.cluster.wait(
                self._queues_active, what="both queues active", where="kubectl describe clusterqueue", seconds=30
            )
            step.result = f"{OWNER} owns {self.plan.totals.gpus:,} GPUs, {GUEST} owns none"

    def _run_over_all(self) -> None:
        nodes = self.cluster.pool.nodes
        with self.record.step(f"job over {self.cluster.pool.gpus:,} GPUs", self.say) as step:
            self.cluster.submit("all", OWNER, pods=nodes)
            hosts = self.cluster.wait_running(OWNER, "all", nodes, seconds=120)
            step.result = f"{len(hosts)} pods admitted as one, one a node, on {len(self._racks(hosts))} x {self.cluster.rack_level}"
        self.record.numbers["seconds_to_running"] = self.record.steps[-1].since_start
        self.record.pictures.append(self.cluster.picture("One job over every GPU"))

    def _share(self) -> None:
        half = max(1, self.cluster.pool.nodes // 2)
        with self.record.step("second team queued", self.say) as step:
            self.cluster.submit("borrow", GUEST, pods=half)
            reserved = self.cluster.wait(
                lambda: (
                    found
                    if (found := self.cluster.condition(GUEST, "borrow", "QuotaReserved"))["status"] == "False"
                    and found["message"]
                    else None
                ),
                what=f"{GUEST}/borrow waiting with a reason",
                where=f"workload of job borrow in {GUEST}",
                seconds=30,
            )
            step.result = str(reserved["message"])[:160]
        with self.record.step("second team borrows", self.say) as step:
            self.cluster.finish(OWNER, "all")
            self.cluster.wait_running(GUEST, "borrow", half, seconds=90)
            borrowed = self.cluster.wait(
                lambda: self._borrowed(GUEST),
                what=f"{GUEST} shown as borrowing",
                where=f"clusterqueue {GUEST}",
                seconds=20,
            )
            step.result = f"{half} nodes, {borrowed} GPUs borrowed from {OWNER}"
            if borrowed != half * self.cluster.pool.gpus_per_node:
                raise PromiseBroken(
                    f"{GUEST} borrows {borrowed} GPUs, not {half * self.cluster.pool.gpus_per_node}",
                    where=f"clusterqueue {GUEST}",
                )
        self.record.pictures.append(self.cluster.picture(f"{GUEST} borrows what {OWNER} leaves idle"))
        with self.record.step("owner takes back by preemption", self.say) as step:
            nodes = self.cluster.pool.nodes
            self.cluster.submit("again", OWNER, pods=nodes)
            self.cluster.wait_running(OWNER, "again", nodes, seconds=120)
            preempted = self.cluster.condition(GUEST, "borrow", "Preempted")
            if preempted["reason"] != "InCohortReclamation":
                raise PromiseBroken(
                    f"{GUEST}/borrow gave way for {preempted['reason'] or 'no reason'}",
                    where=f"workload of job borrow in {GUEST}",
                )
            if self.cluster.hosts_of(GUEST, "borrow"):
                raise PromiseBroken(
                    f"{GUEST}/borrow still runs beside the owner's job", where=f"kubectl -n {GUEST} get pods"
                )
            step.result = (
                f"{GUEST}/borrow preempted ({preempted['reason']}) and queued again; {OWNER}/again on {nodes} nodes"
            )
        self.record.pictures.append(self.cluster.picture(f"{OWNER} has taken its GPUs back"))

    def _lose_a_node(self) -> None:
        nodes = self.cluster.pool.nodes
        with self.record.step("a node fails", self.say) as step:
            lost = sorted(self.cluster.hosts_of(OWNER, "again"))[nodes // 2]
            self.cluster.api.patch(
                "v1", "Node", lost, {"metadata": {"annotations": {NODE_FAILS: "GPU has fallen off the bus (Xid 79)"}}}
            )
            # Without a spare node the gang cannot run: it leaves as a whole and waits, instead of holding the GPUs of the others.
            self.cluster.wait(
                lambda: (
                    self.cluster.condition(OWNER, "again", "Evicted")["reason"] == "NodeFailures"
                    or self.cluster.condition(OWNER, "again", "Requeued")["reason"] == "NodeFailures"
                ),
                what=f"{OWNER}/again requeued after node {lost} failed",
                where=f"workload of job again in {OWNER}",
                seconds=90,
                explain=lambda: self.cluster.explain(OWNER, "again"),
            )
            self.cluster.wait(
                lambda: lost not in self.cluster.hosts_of(OWNER, "again"),
                what="no pod left on the failed node",
                where=f"node {lost}",
                seconds=60,
            )
            self.record.pictures.append(self.cluster.picture(f"Node {lost} has failed"))
            step.result = f"{lost} NotReady; {OWNER}/again evicted as a whole and requeued"
        with self.record.step("the node is back", self.say) as step:
            self.cluster.api.patch("v1", "Node", lost, {"metadata": {"annotations": {NODE_FAILS: None}}})
            self.cluster.wait_running(OWNER, "again", nodes, seconds=120)
            step.result = f"{OWNER}/again runs on {nodes} nodes again"

    def _run_on_one_rack(self) -> None:
        level = self.cluster.rack_level
        sizes = Counter(node["metadata"]["labels"][level] for node in self.cluster.gpu_nodes())
        pods = min(max(sizes.values()), self.cluster.pool.nodes)
        kind = "rack" if level == RACK_LABEL else "leaf of the network"
        with self.record.step(f"{pods * self.cluster.pool.gpus_per_node}-GPU job on one {kind}", self.say) as step:
            self.cluster.finish(GUEST, "borrow")
            self.cluster.finish(OWNER, "again")
            self.cluster.submit("one-rack", OWNER, pods=pods, level=level)
            racks = self._racks(self.cluster.wait_running(OWNER, "one-rack", pods, seconds=90))
            if len(racks) != 1:
                raise PromiseBroken(
                    f"the job is on {len(racks)} of {level}, not on one", where=f"kubectl -n {OWNER} get pods -o wide"
                )
            step.result = f"{pods} nodes of {racks[0]}, of {len(sizes)}"
        self.record.pictures.append(self.cluster.picture(f"A job that fits one {kind}"))
        self.cluster.finish(OWNER, "one-rack")

    def _replay_a_day(self) -> None:
        from gpukit_sandbox.drill.kueue_day import compare_days

        with self.record.step("a day of jobs, twice", self.say) as step:
            self.record.utilization = compare_days(self.cluster, self.say)
            static, shared = self.record.utilization
            step.result = f"GPU utilization {static['utilization_pct']} % by partitions, {shared['utilization_pct']} % in one cohort"

    def _take_down(self, endpoint: str) -> None:
        with self.record.step("pulumi destroy", self.say) as step:
            self.under_test.destroy()
            left = self.under_test.count()
            if left:
                raise PromiseBroken(f"{left} resources still stand in the stack", where="pulumi stack")
            step.result = "no resource stands"
        with self.record.step("leak audit", self.say) as step:
            self.cluster.wait(
                lambda: not self.cluster.gpu_nodes(), what="all nodes gone", where="kubectl get nodes", seconds=60
            )
            after = world.describe_world(endpoint)
            leaks = [
                f"{count - (self.before.get(region) or {}).get(kind, 0)} {kind} in {region}"
                for region, kinds in after.items()
                for kind, count in kinds.items()
                if count > (self.before.get(region) or {}).get(kind, 0)
            ]
            if leaks:
                raise PromiseBroken(f"left behind: {', '.join(leaks)}", where="the cloud after destroy")
            step.result = "nothing is left in the cloud or in the cluster"

    def _queues_active(self) -> bool:
        queues = self.cluster.api.list(KUEUE_API, "ClusterQueue")
        active = [
            any(
                each["type"] == "Active" and each["status"] == "True"
                for each in (queue.get("status") or {}).get("conditions", [])
            )
            for queue in queues
        ]
        return len(active) >= 2 and all(active)

    def _borrowed(self, team: str) -> int:
        queue = self.cluster.api.get(KUEUE_API, "ClusterQueue", team) or {}
        return sum(
            int(resource.get("borrowed") or 0)
            for flavor in (queue.get("status") or {}).get("flavorsUsage", [])
            for resource in flavor.get("resources", [])
            if resource["name"] == "nvidia.com/gpu"
        )

    def _racks(self, hosts: list[str]) -> list[str]:
        wanted = set(hosts)
        level = self.cluster.rack_level
        return sorted(
            {
                node["metadata"]["labels"][level]
                for node in self.cluster.gpu_nodes()
                if node["metadata"]["name"] in wanted
            }
        )


def _tell(record: Record, problem: SandboxError, parts: list[Part]) -> None:
    """Write down what broke: a part that has ended by itself is the cause of whatever was seen of it."""
    for part in parts:
        if not processes.is_running(part):
            step = record.steps[-1]
            step.result = f"{part.name} ended by itself"
            record.broken, record.where, record.exit_code = (
                f"{step.name}: {step.result}",
                part.log,
                PartFailed.exit_code,
            )
            record.why = processes.log_tail(part)
            return
    record.broken = record.broken or problem.problem
    record.why = record.why or problem.why
    record.exit_code = problem.exit_code


def _end(box: Sandbox, record: Record, say: Say, parts: list[Part]) -> None:
    with contextlib.suppress(SandboxError), record.step("sandbox down", say) as step:
        box.down(purge=True)
        alive = [part.name for part in parts if processes.is_running(part)]
        if alive:
            raise PromiseBroken(f"still running: {', '.join(alive)}", where="processes of the sandbox")
        step.result = "no process, no file"


def _parts(box: Sandbox) -> list[Part]:
    return [processes.part_from_json(each) for each in box.directory.read().get("parts", [])]
