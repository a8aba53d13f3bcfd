"""GK1023: a setting has no effect where it stands."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

if TYPE_CHECKING:
    from gpukit.spec.model import ClusterSpec

_LUSTRE_KEYS = ("throughput_tier", "deployment_type", "efa", "metadata_iops", "data_repository")
_EBS_KEYS = ("volume_type", "iops", "throughput_mb_s")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each setting of the user's own file that is ignored where it stands."""
    for path, because, fix in _ignored(context):
        if context.is_written_by_user(path):
            yield tell(
                "GK1023", Severity.ERROR, path, problem=f"`{path.rpartition('.')[2]}` has no effect: {because}", fix=fix
            )


def _ignored(context: CheckContext) -> Iterator[tuple[str, str, str]]:
    spec = context.spec
    for path, _, _, source in context.sources():
        if source.max_usd_per_hour is not None and source.mode != "spot":
            yield f"{path}.max_usd_per_hour", f"the mode is {source.mode.value}, not spot", "remove it"
        if source.reservations and source.mode in ("on-demand", "spot"):
            yield (
                f"{path}.reservations",
                f"the mode is {source.mode.value}",
                "set `mode: reserved` or `mode: capacity-block`, or remove the reservations",
            )
    network = spec.network
    if network.nat_gateways and network.egress == "endpoints":
        yield "network.nat_gateways", "egress goes by endpoints only", "remove it, or set `egress: nat`"
    for name, store in spec.storage.items():
        keys = (
            _EBS_KEYS if store.kind == "lustre" else _LUSTRE_KEYS if store.kind == "ebs" else _LUSTRE_KEYS + _EBS_KEYS
        )
        for key in keys:
            if getattr(store, key) not in (None, False):
                yield f"storage.{name}.{key}", f"the store is of kind {store.kind.value}", "remove it, or change `kind`"
        if store.cache is not None and store.kind != "s3":
            yield f"storage.{name}.cache", f"the store is of kind {store.kind.value}", "remove it, or change `kind`"
    if spec.kind != "workstation" and spec.lifecycle.idle_stop_minutes is not None:
        yield (
            "lifecycle.idle_stop_minutes",
            "only a workstation stops by itself",
            "remove it",
        )
    if spec.kind == "workstation":
        if spec.queues is not None:
            yield "queues", "a workstation has no scheduler", "remove it, or set `kind: cluster`"
        yield from _ignored_by_workstation(spec)
    elif spec.workstation.jupyter:
        yield "workstation.jupyter", "the stack makes a cluster", "remove it, or set `kind: workstation`"
    if network.existing is not None:
        for key in ("cidr", "nat_gateways"):
            if getattr(network, key) is not None:
                yield f"network.{key}", "the network exists and is taken as it is", "remove it"
    if spec.kind == "existing-cluster":
        for name, image in spec.images.items():
            if image.build:
                yield f"images.{name}.build", "the stack makes no node", "remove it"
    if spec.kind != "cluster":
        for name, pool in spec.pools.items():
            if pool.pre_pull:
                yield f"pools.{name}.pre_pull", "only a node of the stack's own cluster pulls at its start", "remove it"
    if spec.kubernetes.context is not None and spec.kind != "existing-cluster":
        yield "kubernetes.context", "the stack makes its own cluster", "remove it, or set `kind: existing-cluster`"


def _ignored_by_workstation(spec: "ClusterSpec") -> Iterator[tuple[str, str, str]]:
    to_cluster = "remove it, or set `kind: cluster`"
    for key in ("version", "addons", "operators"):
        if getattr(spec.kubernetes, key):
            yield f"kubernetes.{key}", "a workstation has no Kubernetes", to_cluster
    for key in ("administrators", "viewers", "teams", "public_endpoint_cidrs"):
        if getattr(spec.access, key):
            yield f"access.{key}", "a workstation has no cluster to give rights in", to_cluster
    for name, pool in spec.pools.items():
        node = pool.node
        ignored = {
            "labels": pool.labels,
            "taints": pool.taints,
            "permissions.pod_identities": pool.permissions.pod_identities,
            "node.threads_per_core": node.threads_per_core,
            "node.hugepages_2mi": node.hugepages_2mi,
            "node.kubelet.cpu_manager_policy": node.kubelet.cpu_manager_policy,
            "node.kubelet.topology_manager_policy": node.kubelet.topology_manager_policy,
            "node.kubelet.max_pods": node.kubelet.max_pods,
            "updates.max_unavailable_pct": pool.updates.max_unavailable_pct,
            "updates.window": pool.updates.window,
        }
        for key, value in ignored.items():
            if value:
                yield f"pools.{name}.{key}", "a workstation joins no cluster", to_cluster
        if len(pool.instance_types) > 1:
            yield f"pools.{name}.instance_types", "one instance has one type", "keep the first as `instance_type`"
    for name, store in spec.storage.items():
        if store.kind == "ebs" and store.backup_days:
            yield f"storage.{name}.backup_days", "nothing makes snapshots of the data volume", "remove it"


RULE = Rule(
    code="GK1023",
    title="a setting has no effect where it stands",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="somebody wrote it for a reason, and nothing would tell them that it does nothing",
    source="public report: cluster-toolkit, unused modules and variables are errors",
)
