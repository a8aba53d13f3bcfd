"""GK4006: two stores with the same mount path."""

from collections.abc import Iterator
from posixpath import normpath

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_SYSTEM_ITSELF = ("/", "/opt", "/root", "/tmp", "/var", "/var/lib", "/var/log")
"""Folders that the system needs as they are; a folder of one's own inside them hides nothing."""
_SYSTEM_WHOLE = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/opt/amazon",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/lib/cloud",
    "/var/lib/containerd",
    "/var/lib/kubelet",
    "/var/run",
)
"""Folders of the system, of EFA and of Kubernetes: nothing may stand at them or inside them."""


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each path that leads elsewhere than it says, or that another store or the system has."""
    taken: dict[str, str] = {}
    for store in context.plan.storage:
        if store.kind == "s3" and store.cache_profile is None:
            # a bucket without a cache profile is not mounted
            continue
        where = f"storage.{store.name}"
        path = _normal(store.mount_path)
        yield from _judge(f"{where}.mount_path", store.mount_path, taken, like=f"{path.rstrip('/')}/{store.name}")
        taken.setdefault(path, where)
    for pool in context.plan.all_pools:
        if pool.local_nvme_role != "none" and pool.local_nvme_path:
            yield from _judge(f"pools.{pool.name}.local_nvme.path", pool.local_nvme_path, taken, like="/local")


def _judge(where: str, stated: str, taken: dict[str, str], *, like: str) -> Iterator[Finding]:
    path = _normal(stated)
    if {".", ".."} & set(stated.split("/")):
        problem, fix = f"`{stated}` leads to `{path}`", "write the path without `.` and `..`"
    elif path in _SYSTEM_ITSELF or any(path == one or path.startswith(f"{one}/") for one in _SYSTEM_WHOLE):
        problem, fix = f"`{path}` belongs to the operating system", "use a path of its own, such as /data"
    elif path in taken:
        problem, fix = f"`{path}` is taken by `{taken[path]}`", f"use another path, such as {like}"
    else:
        return
    yield tell("GK4006", Severity.ERROR, where, problem=problem, fix=fix)


def _normal(path: str) -> str:
    # two slashes at the beginning mean something else to POSIX, and one to Linux
    return normpath("/" + path.lstrip("/"))


RULE = Rule(
    code="GK4006",
    title="two stores with the same mount path",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="the second mount hides what was there, and data lands where nobody looks for it",
    source="public rule ParallelCluster DuplicateMountDirValidator",
)
