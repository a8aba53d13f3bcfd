"""
A gang job: as many pods as nodes, admitted together, close together, each pod with the toleration of its node's taints.

Kueue takes a job whole or not at all; where its pods go it decides by the topology of the flavor.
"""

from dataclasses import dataclass, field
from typing import Any, Final

from gpukit.kube.queues import EFA, GPU
from gpukit.plan import PoolPlan

QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
REQUIRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-required-topology"
PREFERRED_TOPOLOGY: Final = "kueue.x-k8s.io/podset-preferred-topology"
NODE_FAULTS: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
CPU_SHARE: Final = 0.75
MEMORY_SHARE: Final = 0.75
"""Of a node, for the pods of a job on all its GPUs: the rest is the kubelet's, the daemons' and the page cache's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GangJob:
    """One job over whole nodes, or over some GPUs of one node a pod."""

    name: str
    namespace: str
    queue: str
    pods: int
    gpus_per_pod: int
    image: str
    command: tuple[str, ...] = ()
    level: str | None = None
    """Node label of the topology level that the pods share; None leaves it to Kueue, as close as it gets."""
    level_required: bool = True
    """Whether the job waits until one place of that level can hold it, or takes the closest there is."""
    node_fault_seconds: int = 30
    """How long a pod stays on a node that has failed; the whole gang waits meanwhile."""
    priority_class: str | None = None
    pod_annotations: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)


def render_gang_job(job: GangJob, pool: PoolPlan) -> dict[str, Any]:
    """Return the Job, suspended: Kueue starts it when all of it fits."""
    metadata_labels = {QUEUE_LABEL: job.queue}
    if job.priority_class:
        metadata_labels["kueue.x-k8s.io/priority-class"] = job.priority_class
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": job.name, "namespace": job.namespace, "labels": metadata_labels},
        "spec": {
            "suspend": True,
            "completionMode": "Indexed",
            "completions": job.pods,
            "parallelism": job.pods,
            # A pod that is lost with its node is no failure of the program.
            "backoffLimit": max(job.pods, 6),
            "template": {
                "metadata": {"annotations": {**_topology(job), **job.pod_annotations}},
                "spec": {
                    "restartPolicy": "Never",
                    "tolerations": tolerations_of(pool, node_fault_seconds=job.node_fault_seconds),
                    "containers": [
                        {
                            "name": "main",
                            "image": job.image,
                            **({"command": list(job.command)} if job.command else {}),
                            **({"env": _environment(job.environment)} if job.environment else {}),
                            "resources": _resources(job, pool),
                        }
                    ],
                },
            },
        },
    }


def tolerations_of(pool: PoolPlan, *, node_fault_seconds: int) -> list[dict[str, Any]]:
    """Return what a pod on this pool tolerates: its node groups' taints for ever, a failed node for some seconds."""
    taints = sorted({(taint.key, taint.effect) for group in pool.node_groups for taint in group.taints})
    own: list[dict[str, Any]] = [{"key": key, "operator": "Exists", "effect": effect} for key, effect in taints]
    faults: list[dict[str, Any]] = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": node_fault_seconds}
        for key in NODE_FAULTS
    ]
    return own + faults


def _topology(job: GangJob) -> dict[str, str]:
    if job.level is None:
        return {}
    return {REQUIRED_TOPOLOGY if job.level_required else PREFERRED_TOPOLOGY: job.level}


def _resources(job: GangJob, pool: PoolPlan) -> dict[str, dict[str, str]]:
    share = min(1.0, job.gpus_per_pod / max(pool.gpus_per_node, 1))
    whole = job.gpus_per_pod >= pool.gpus_per_node
    amounts = {
        "cpu": str(max(1, int(pool.vcpu_per_node * share * CPU_SHARE))),
        "memory": f"{max(1, int(pool.memory_gib_per_node * share * MEMORY_SHARE))}Gi",
        GPU: str(job.gpus_per_pod),
    }
    if pool.efa and pool.efa_interfaces_per_node:
        # An EFA device cannot be shared: a pod on part of a node takes its part, at least one.
        amounts[EFA] = str(
            max(1, int(pool.efa_interfaces_per_node * share)) if not whole else pool.efa_interfaces_per_node
        )
    return {"requests": dict(amounts), "limits": dict(amounts)}


def _environment(values: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "value": values[name]} for name in sorted(values)]
