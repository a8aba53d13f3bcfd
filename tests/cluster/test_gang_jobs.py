"""Gang jobs through Kueue: all or nothing, one pod a node, close together, tolerations on the job itself."""

from typing import Any

import pytest
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.stages import NODE_FAILS

from gpukit.kube.jobs import GangJob, render_gang_job
from gpukit.kube.queues import TeamQueue, render_queues
from gpukit.plan import Plan
from tests.cluster.support import (
    KUEUE,
    add_nodes,
    condition,
    pods_of,
    preset_plan,
    running_nodes,
    wait_for,
    workload_of,
)

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.usefixtures("empty")]
IMAGE = "registry.invalid/training@sha256:" + "0" * 64


@pytest.fixture(scope="module")
def plan() -> Plan:
    return preset_plan()


def make_cluster(api: KubeApi, plan: Plan, *, flavor_tolerates: bool = False, **gpus: int) -> list[str]:
    names = add_nodes(api, plan)
    for manifest in render_queues(plan, [TeamQueue(name=name, gpus=owned) for name, owned in gpus.items()]):
        if flavor_tolerates and manifest["kind"] == "ResourceFlavor":
            del manifest["spec"]["nodeTaints"]
            manifest["spec"]["tolerations"] = [{"key": "nvidia.com/gpu", "operator": "Exists"}]
        api.apply(manifest)
    wait_for(lambda: all(condition(queue, "Active")["status"] == "True" for queue in api.list(KUEUE, "ClusterQueue")))
    return names


def submit(api: KubeApi, plan: Plan, name: str, team: str, pods: int, **settings: Any) -> dict[str, Any]:
    job = GangJob(name=name, namespace=team, queue=team, pods=pods, gpus_per_pod=8, image=IMAGE, **settings)
    manifest = render_gang_job(job, plan.pools[0])
    api.create(manifest)
    return manifest


def test_a_gang_over_all_gpus_is_admitted_as_one_with_one_pod_a_node(api: KubeApi, plan: Plan) -> None:
    names = make_cluster(api, plan, vision=64)
    submit(api, plan, "all", "vision", 8)

    wait_for(lambda: len(running_nodes(api, "vision", "all")) == 8)

    assert sorted(running_nodes(api, "vision", "all")) == sorted(names)
    admitted = [item["count"] for item in workload_of(api, "vision", "all")["status"]["admission"]["podSetAssignments"]]
    assert admitted == [8]


def test_a_gang_that_does_not_fit_waits_whole_and_says_why(api: KubeApi, plan: Plan) -> None:
    make_cluster(api, plan, vision=64)
    submit(api, plan, "too-large", "vision", 9)

    reserved = wait_for(
        lambda: (c := condition(workload_of(api, "vision", "too-large"), "QuotaReserved"))["message"] and c
    )

    assert reserved["status"] == "False"
    assert "insufficient" in reserved["message"]
    assert pods_of(api, "vision", "too-large") == []


def test_a_gang_that_needs_one_leaf_gets_exactly_one(api: KubeApi, plan: Plan) -> None:
    make_cluster(api, plan, vision=64)
    leaf = "topology.k8s.aws/network-node-layer-3"
    submit(api, plan, "close", "vision", 2, level=leaf)

    nodes = wait_for(lambda: (found := running_nodes(api, "vision", "close")) and len(found) == 2 and found)

    assert len({api.get("v1", "Node", name)["metadata"]["labels"][leaf] for name in nodes}) == 1


def test_a_job_without_the_toleration_is_evicted_in_a_loop_and_one_with_it_is_not(api: KubeApi, plan: Plan) -> None:
    """With a thousand GPUs the scheduler takes its time; here a gate of the test's own holds the pods as long as it needs."""
    # The flavor tolerates on the job's behalf: this is what must not be relied on.
    make_cluster(api, plan, flavor_tolerates=True, vision=64)
    for name in ("without", "with"):
        job = GangJob(name=name, namespace="vision", queue="vision", pods=2, gpus_per_pod=8, image=IMAGE)
        manifest = render_gang_job(job, plan.pools[0])
        template = manifest["spec"]["template"]["spec"]
        template["schedulingGates"] = [{"name": "gpukit.dev/slow-scheduler"}]
        if name == "without":
            template["tolerations"] = [t for t in template["tolerations"] if t["key"] != "nvidia.com/gpu"]
        api.create(manifest)

    wait_for(lambda: evictions(api, "without") >= 2, seconds=90)

    assert evictions(api, "with") == 0
    assert condition(workload_of(api, "vision", "with"), "Admitted")["status"] == "True"


def test_a_gang_on_a_failed_node_is_requeued_and_runs_again_when_the_node_is_back(api: KubeApi, plan: Plan) -> None:
    names = make_cluster(api, plan, vision=64)
    submit(api, plan, "all", "vision", 8, node_fault_seconds=2)
    wait_for(lambda: len(running_nodes(api, "vision", "all")) == 8)

    api.patch("v1", "Node", names[3], {"metadata": {"annotations": {NODE_FAILS: "GPU fell off the bus"}}})
    wait_for(lambda: evictions(api, "all") >= 1, seconds=60)
    wait_for(lambda: not running_nodes(api, "vision", "all"))
    api.patch("v1", "Node", names[3], {"metadata": {"annotations": {NODE_FAILS: None}}})

    wait_for(lambda: len(running_nodes(api, "vision", "all")) == 8, seconds=60)


def test_what_a_team_lent_it_takes_back_by_preemption(api: KubeApi, plan: Plan) -> None:
    make_cluster(api, plan, owner=64, guest=0)
    submit(api, plan, "borrows", "guest", 4)
    wait_for(lambda: len(running_nodes(api, "guest", "borrows")) == 4)

    submit(api, plan, "reclaims", "owner", 8)
    wait_for(lambda: len(running_nodes(api, "owner", "reclaims")) == 8)

    preempted = condition(workload_of(api, "guest", "borrows"), "Preempted")
    assert (preempted["status"], preempted["reason"]) == ("True", "InCohortReclamation")
    assert running_nodes(api, "guest", "borrows") == []


def evictions(api: KubeApi, job: str) -> int:
    """Return how often Kueue says that it evicted a job's workload."""
    workload = (workload_of(api, "vision", job) or {"metadata": {"name": ""}})["metadata"]["name"]
    events = [
        event
        for event in api.list("v1", "Event", namespace="vision")
        if event["involvedObject"]["name"] == workload and event["reason"].startswith("EvictedDueTo")
    ]
    return sum(event.get("count") or 1 for event in events)
