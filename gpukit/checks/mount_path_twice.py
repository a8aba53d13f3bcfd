"""GK4006: two stores with the same mount path."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_SYSTEM = ("/", "/bin", "/boot", "/dev", "/etc", "/lib", "/proc", "/run", "/sbin", "/sys", "/tmp", "/usr", "/var")


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each store whose path is taken by another one or by the system."""
    taken: dict[str, str] = {}
    for store in context.plan.storage:
        if store.kind == "s3" and store.cache_profile is None:
            # a bucket without a cache profile is not mounted
            continue
        path = store.mount_path.rstrip("/") or "/"
        where = f"storage.{store.name}.mount_path"
        if path in _SYSTEM:
            yield tell(
                "GK4006",
                Severity.ERROR,
                where,
                problem=f"`{path}` belongs to the operating system",
                fix="use a path of its own, such as /data",
            )
        elif path in taken:
            yield tell(
                "GK4006",
                Severity.ERROR,
                where,
                problem=f"`{path}` is taken by `{taken[path]}`",
                fix=f"use another path, such as {path}/{store.name}",
            )
        taken.setdefault(path, f"storage.{store.name}")
    for pool in context.plan.all_pools:
        local = (pool.local_nvme_path or "").rstrip("/")
        if pool.local_nvme_role != "none" and local in taken:
            yield tell(
                "GK4006",
                Severity.ERROR,
                f"pools.{pool.name}.local_nvme.path",
                problem=f"`{local}` is taken by `{taken[local]}`",
                fix="use another path, such as /local",
            )


RULE = Rule(
    code="GK4006",
    title="two stores with the same mount path",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="the second mount hides the first one, and data lands where nobody looks for it",
    source="public rule ParallelCluster DuplicateMountDirValidator",
)
