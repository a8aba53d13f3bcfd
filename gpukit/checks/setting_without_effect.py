"""GK1023: a setting has no effect where it stands."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

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
            "use `idle_pool_minutes` for pools that shrink",
        )
    if spec.kind == "workstation":
        if spec.queues is not None:
            yield "queues", "a workstation has no scheduler", "remove it, or set `kind: cluster`"
        if spec.kubernetes.version is not None:
            yield "kubernetes.version", "a workstation has no Kubernetes", "remove it, or set `kind: cluster`"
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


RULE = Rule(
    code="GK1023",
    title="a setting has no effect where it stands",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="somebody wrote it for a reason, and nothing would tell them that it does nothing",
    source="public report: cluster-toolkit, unused modules and variables are errors",
)
