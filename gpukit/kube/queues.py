"""
Kueue's queues of a plan: a flavor a pool, a ClusterQueue and a LocalQueue a team, all teams in one cohort.

What a team owns is its nominal quota; what it leaves idle others borrow, and it takes that back by preemption when it
needs it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpukit.kube.topology import KUEUE_API, POOL_LABEL, render_topologies, topology_name
from gpukit.plan import Plan, PoolPlan

GPU: Final = "nvidia.com/gpu"
EFA: Final = "vpc.amazonaws.com/efa"
PREEMPTION: Final = {
    "never": {"reclaimWithinCohort": "Never", "withinClusterQueue": "Never"},
    "lower-priority": {"reclaimWithinCohort": "LowerPriority", "withinClusterQueue": "LowerPriority"},
    "reclaim": {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"},
}
"""A stack file's `queues.preemption` -> Kueue's policies. Source: Kueue, "Cluster Queue", preemption, 2026-08."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamQueue:
    """What one team owns, borrows and lends, in GPUs; None is no limit."""

    name: str
    gpus: int
    namespace: str = ""
    """The team's name when left out."""
    borrow_gpus: int | None = None
    lend_gpus: int | None = None

    @property
    def team_namespace(self) -> str:
        """Where the team's jobs are."""
        return self.namespace or self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolShare:
    """GPUs of one pool that belong to one team."""

    pool: PoolPlan
    gpus: int


def split_pools(plan: Plan, teams: Sequence[TeamQueue]) -> dict[str, tuple[PoolShare, ...]]:
    """
    Return which GPUs of which pool each team owns: pools are given out in the plan's order, teams in theirs.

    Raises ValueError when the teams own more GPUs than the plan has: a quota that cannot be met would admit jobs that
    never start.
    """
    owned, there = sum(team.gpus for team in teams), sum(pool.gpus for pool in plan.pools)
    if owned > there:
        raise ValueError(f"the teams own {owned} GPUs, the plan has {there}")
    left = {pool.name: pool.gpus for pool in plan.pools}
    shares: dict[str, tuple[PoolShare, ...]] = {}
    for team in teams:
        wanted, own = team.gpus, []
        for pool in plan.pools:
            taken = min(wanted, left[pool.name])
            left[pool.name] -= taken
            wanted -= taken
            own.append(PoolShare(pool=pool, gpus=taken))
        shares[team.name] = tuple(own)
    return shares


def render_queues(
    plan: Plan, teams: Sequence[TeamQueue], *, cohort: str = "gpukit", preemption: str = "reclaim", static: bool = False
) -> list[dict[str, Any]]:
    """
    Return topologies, flavors, namespaces and queues in the order to apply them.

    `static` puts each team into a partition of its own: nothing is borrowed or lent, for comparison. KeyError for an
    unknown preemption.
    """
    shares = split_pools(plan, teams)
    objects = [*render_topologies(plan), *(render_flavor(pool) for pool in plan.pools)]
    for team in teams:
        queue = _cluster_queue(
            team, shares[team.name], cohort=None if static else cohort, preemption=PREEMPTION[preemption]
        )
        objects += [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": team.team_namespace}},
            queue,
            {
                "apiVersion": KUEUE_API,
                "kind": "LocalQueue",
                "metadata": {"name": team.name, "namespace": team.team_namespace},
                "spec": {"clusterQueue": team.name},
            },
        ]
    return objects


def render_flavor(pool: PoolPlan) -> dict[str, Any]:
    """
    Return a pool's ResourceFlavor: its nodes by label, its topology, its taints.

    The taints are named so that a job without the toleration waits and says why. They are not tolerated here on the
    job's behalf: Kueue judges a node by the job's own tolerations and would evict the job again and again.
    """
    taints = sorted({(taint.key, taint.value, taint.effect) for group in pool.node_groups for taint in group.taints})
    spec: dict[str, Any] = {"nodeLabels": {POOL_LABEL: pool.name}, "topologyName": topology_name(pool)}
    if taints:
        spec["nodeTaints"] = [{"key": key, "value": value, "effect": effect} for key, value, effect in taints]
    return {"apiVersion": KUEUE_API, "kind": "ResourceFlavor", "metadata": {"name": pool.name}, "spec": spec}


def _cluster_queue(
    team: TeamQueue, shares: Sequence[PoolShare], *, cohort: str | None, preemption: dict[str, str]
) -> dict[str, Any]:
    with_efa = any(share.pool.efa for share in shares)
    covered = ["cpu", "memory", GPU, *([EFA] if with_efa else [])]
    spec: dict[str, Any] = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team.team_namespace}},
        # A large job must not be overtaken for ever by small ones, nor hold up what fits meanwhile.
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": [
            {
                "coveredResources": covered,
                "flavors": [
                    {
                        "name": share.pool.name,
                        "resources": [_quota(name, share, team, alone=cohort is None) for name in covered],
                    }
                    for share in shares
                ],
            }
        ],
        "preemption": dict(preemption) if cohort else {**preemption, "reclaimWithinCohort": "Never"},
    }
    if cohort:
        spec["cohortName"] = cohort
    return {"apiVersion": KUEUE_API, "kind": "ClusterQueue", "metadata": {"name": team.name}, "spec": spec}


def _quota(resource: str, share: PoolShare, team: TeamQueue, *, alone: bool) -> dict[str, Any]:
    quota: dict[str, Any] = {"name": resource, "nominalQuota": _amount(resource, share.pool, share.gpus)}
    if alone or resource != GPU:
        return quota
    # Limits on GPUs limit the rest: no job runs without them.
    if team.borrow_gpus is not None:
        quota["borrowingLimit"] = str(team.borrow_gpus)
    if team.lend_gpus is not None:
        quota["lendingLimit"] = str(min(team.lend_gpus, share.gpus))
    return quota


def _amount(resource: str, pool: PoolPlan, gpus: int) -> str:
    """Return what goes with a number of GPUs: the node's processors, memory and interfaces in proportion."""
    if resource == GPU:
        return str(gpus)
    per_node = max(pool.gpus_per_node, 1)
    if resource == "cpu":
        return str(pool.vcpu_per_node * gpus // per_node)
    if resource == "memory":
        return f"{int(pool.memory_gib_per_node * gpus / per_node)}Gi"
    return str(pool.efa_interfaces_per_node * gpus // per_node)
