"""Queues, topology and gang jobs of a plan, as plain objects."""

from datetime import date
from typing import Any

import pytest

from gpukit.kube.jobs import GangJob, render_gang_job, tolerations_of
from gpukit.kube.queues import TeamQueue, render_flavor, render_queues, split_pools
from gpukit.kube.topology import topology_levels
from gpukit.plan import Plan
from gpukit.planning import plan_from_preset

NETWORK = tuple(f"topology.k8s.aws/network-node-layer-{layer}" for layer in (1, 2, 3))


def plan_of(preset: str) -> Plan:
    plan = plan_from_preset(preset, today=date(2026, 12, 1)).plan
    assert plan is not None
    return plan


def queues_of(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {item["metadata"]["name"]: item["spec"] for item in objects if item["kind"] == "ClusterQueue"}


def quota_of(queue: dict[str, Any], resource: str) -> dict[str, Any]:
    (flavor,) = queue["resourceGroups"][0]["flavors"]
    return next(item for item in flavor["resources"] if item["name"] == resource)


@pytest.mark.parametrize(
    ("preset", "levels"),
    [
        pytest.param("thousand-card", ("gpukit/cooling-zone", *NETWORK, "kubernetes.io/hostname"), id="network-layers"),
        pytest.param(
            "thousand-card-liquid", ("gpukit/cooling-zone", "gpukit/rack", "kubernetes.io/hostname"), id="nvlink-racks"
        ),
    ],
)
def test_levels_go_from_cooling_zone_to_host_by_rack_where_there_are_racks(
    preset: str, levels: tuple[str, ...]
) -> None:
    assert topology_levels(plan_of(preset).pools[0]) == levels


def test_quotas_carry_processors_memory_and_efa_in_proportion_to_gpus() -> None:
    queue = queues_of(render_queues(plan_of("multi-node"), [TeamQueue(name="vision", gpus=16)]))["vision"]

    assert quota_of(queue, "nvidia.com/gpu")["nominalQuota"] == "16"
    assert quota_of(queue, "cpu")["nominalQuota"] == "384"
    assert quota_of(queue, "memory")["nominalQuota"] == "4096Gi"
    assert quota_of(queue, "vpc.amazonaws.com/efa")["nominalQuota"] == "64"


def test_teams_share_a_cohort_and_take_back_what_they_lent() -> None:
    teams = [TeamQueue(name="a", gpus=32, lend_gpus=8), TeamQueue(name="b", gpus=32, borrow_gpus=4)]
    queues = queues_of(render_queues(plan_of("multi-node"), teams, cohort="shared"))

    assert {queue["cohortName"] for queue in queues.values()} == {"shared"}
    assert queues["a"]["preemption"]["reclaimWithinCohort"] == "Any"
    assert quota_of(queues["a"], "nvidia.com/gpu")["lendingLimit"] == "8"
    assert quota_of(queues["b"], "nvidia.com/gpu")["borrowingLimit"] == "4"


def test_static_partitions_have_no_cohort_and_no_limits_that_need_one() -> None:
    teams = [TeamQueue(name="a", gpus=32, lend_gpus=8, borrow_gpus=4)]
    queue = queues_of(render_queues(plan_of("multi-node"), teams, static=True))["a"]

    assert "cohortName" not in queue
    assert set(quota_of(queue, "nvidia.com/gpu")) == {"name", "nominalQuota"}
    assert queue["preemption"]["reclaimWithinCohort"] == "Never"


def test_teams_cannot_own_more_than_there_is() -> None:
    with pytest.raises(ValueError, match="the teams own 72 GPUs, the plan has 64"):
        split_pools(plan_of("multi-node"), [TeamQueue(name="a", gpus=64), TeamQueue(name="b", gpus=8)])


def test_a_flavor_names_the_taints_of_its_nodes_and_tolerates_none_for_the_job() -> None:
    spec = render_flavor(plan_of("multi-node").pools[0])["spec"]

    assert {taint["key"] for taint in spec["nodeTaints"]} >= {"nvidia.com/gpu"}
    assert "tolerations" not in spec


def test_every_job_tolerates_each_taint_of_its_nodes_itself() -> None:
    pool = plan_of("multi-node").pools[0]
    tolerated = {item["key"] for item in tolerations_of(pool, node_fault_seconds=30)}

    assert tolerated >= {taint.key for group in pool.node_groups for taint in group.taints}


@pytest.mark.parametrize(
    ("gpus_per_pod", "gpus", "efa"), [pytest.param(8, "8", "32", id="whole-node"), pytest.param(1, "1", "4", id="part")]
)
def test_a_pod_takes_its_part_of_a_node(gpus_per_pod: int, gpus: str, efa: str) -> None:
    job = GangJob(name="j", namespace="n", queue="q", pods=2, gpus_per_pod=gpus_per_pod, image="i")
    manifest = render_gang_job(job, plan_of("multi-node").pools[0])
    limits = manifest["spec"]["template"]["spec"]["containers"][0]["resources"]["limits"]

    assert (limits["nvidia.com/gpu"], limits["vpc.amazonaws.com/efa"]) == (gpus, efa)


def test_a_gang_is_suspended_queued_and_indexed_with_its_level_on_the_pods() -> None:
    job = GangJob(name="j", namespace="n", queue="q", pods=18, gpus_per_pod=4, image="i", level="gpukit/rack")
    manifest = render_gang_job(job, plan_of("thousand-card-liquid").pools[0])
    spec = manifest["spec"]

    assert (spec["suspend"], spec["completionMode"]) == (True, "Indexed")
    assert (spec["parallelism"], spec["completions"]) == (18, 18)
    assert manifest["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "q"
    annotations = spec["template"]["metadata"]["annotations"]
    assert annotations["kueue.x-k8s.io/podset-required-topology"] == "gpukit/rack"


def test_the_same_plan_gives_the_same_objects() -> None:
    teams = [TeamQueue(name="a", gpus=8)]

    assert render_queues(plan_of("multi-node"), teams) == render_queues(plan_of("multi-node"), teams)
