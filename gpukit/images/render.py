"""
Render what starts a node: MIME user data with nodeadm's configuration and the scripts around the node's joining.

Cluster name, endpoint, certificate and service CIDR are plain strings, because they may be born only inside an apply.
They are left out for EKS-released AMIs: there EKS merges its own part in.
"""

import json
import re
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final

from gpukit.images.communication import explain_variable
from gpukit.images.expectations import expect_node
from gpukit.images.hooks import list_hooks
from gpukit.images.manifest import ImageError, load_manifest
from gpukit.images.pre_pull import list_pre_pulled
from gpukit.images.templating import read_file, render_template, to_yaml
from gpukit.images.workstation import render_workstation_user_data
from gpukit.plan import BootHookPlan, ImagePlan, NodeGroupPlan, PoolPlan

__all__ = [
    "USER_DATA_LIMIT_BYTES",
    "UserDataTooLarge",
    "encode_user_data",
    "render_node_config",
    "render_node_user_data",
    "render_profile",
    "render_workstation_user_data",
]

USER_DATA_LIMIT_BYTES: Final = 16 * 1024
"""User data of one instance before base64. Source: EC2 User Guide, "Run commands when you launch", 2026-08."""

CHECK_EVERY_MINUTES: Final = 5

EFA_HUGE_PAGES: Final = 5128
"""2 MiB pages for libfabric's bounce buffers. Source: os_settings.csv (eks-efa-doc@2026)."""

_NETWORK_SYSCTLS: Final = {
    "net.core.somaxconn": "65535",
    "net.ipv4.neigh.default.gc_thresh1": "0",
    "net.ipv4.neigh.default.gc_thresh2": "15360",
    "net.ipv4.neigh.default.gc_thresh3": "16384",
    "net.ipv4.tcp_max_syn_backlog": "65535",
}
"""Neighbour table and backlog for flat clusters of 128 nodes and more. Source: os_settings.csv (pcluster-cookbook)."""

_KUBELET_WORDS: Final = {
    "cpu_manager_policy": "cpuManagerPolicy",
    "max_pods": "maxPods",
    "memory_manager_policy": "memoryManagerPolicy",
    "topology_manager_policy": "topologyManagerPolicy",
    "topology_manager_scope": "topologyManagerScope",
}


class UserDataTooLarge(ImageError):
    """The user data does not fit; the message lists the largest parts."""


def render_node_user_data(
    *,
    pool: PoolPlan,
    group: NodeGroupPlan,
    image: ImagePlan,
    cluster_name: str = "",
    endpoint: str = "",
    certificate_authority: str = "",
    service_cidr: str = "",
    region: str = "",
    log_group: str = "",
    lustre: bool = False,
    local_nvme: int | None = None,
    gate: bool = True,
) -> str:
    """
    Return the MIME multi-part user data of one node group's nodes.

    `log_group` is the CloudWatch log group that gets the boot's tail (empty: console only), `local_nvme` the number of
    instance-store disks, `gate` whether a node that fails its check registers with a taint. Nodes without GPU have no
    gate. Raises UserDataTooLarge over 16 KiB.
    """
    config = render_node_config(
        pool=pool,
        image=image,
        cluster_name=cluster_name,
        endpoint=endpoint,
        certificate_authority=certificate_authority,
        service_cidr=service_cidr,
    )
    script = render_before_join(
        pool=pool,
        group=group,
        image=image,
        region=region,
        log_group=log_group,
        lustre=lustre,
        local_nvme=local_nvme,
        gate=gate and pool.gpus_per_node > 0,
    )
    text = _mime([("text/x-shellscript", script), ("application/node.eks.aws", config)])
    if len(text.encode()) > USER_DATA_LIMIT_BYTES:
        # Only when it has to be: packed bytes may differ between versions of the compressor, and would roll the nodes.
        text = _mime([("text/x-shellscript", squeeze_script(script)), ("application/node.eks.aws", config)])
    return _require_size(text, f"pools.{pool.name}.boot", pool.boot)


def render_node_config(
    *,
    pool: PoolPlan,
    image: ImagePlan,
    cluster_name: str = "",
    endpoint: str = "",
    certificate_authority: str = "",
    service_cidr: str = "",
) -> str:
    """Return nodeadm's NodeConfig as YAML; the cluster part only where EKS does not write it itself."""
    spec: dict[str, Any] = {}
    if image.source != "eks-release" and cluster_name:
        spec["cluster"] = {
            "name": cluster_name,
            "apiServerEndpoint": endpoint,
            "certificateAuthority": certificate_authority,
            "cidr": service_cidr,
        }
    kubelet = _kubelet_config(pool.node_settings)
    if kubelet:
        spec["kubelet"] = {"config": kubelet}
    storage = _local_storage(pool)
    if storage:
        spec["instance"] = {"localStorage": storage}
    return to_yaml({"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec})


def render_before_join(
    *,
    pool: PoolPlan,
    group: NodeGroupPlan,
    image: ImagePlan,
    region: str = "",
    log_group: str = "",
    lustre: bool = False,
    local_nvme: int | None = None,
    gate: bool = True,
) -> str:
    """Return the shell script that prepares the node, runs the user's hooks and decides whether it joins tainted."""
    before = list_hooks(pool.boot, "before-join")
    after = list_hooks(pool.boot, "after-join")
    pulled = list_pre_pulled(pool.pre_pull, f"pools.{pool.name}.pre_pull")
    memlock = pool.node_settings.get("limits.memlock", pool.node_settings.get("limits.locked_memory", "unlimited"))
    expected = expect_node(pool=pool, group=group, image=image, lustre=lustre, local_nvme=local_nvme)
    return render_template(
        "before_join.sh.j2",
        taints=[f"{taint.key}={taint.value}:{taint.effect}" for taint in group.taints],
        taints_on_failure=True,
        log_group=log_group,
        region=region,
        sysctls=_sysctls(pool, group),
        memlock=_memlock_kib(memlock),
        memlock_systemd="infinity" if memlock == "unlimited" else f"{_memlock_kib(memlock)}K",
        hugepages=_number(pool.node_settings, "limits.hugepages_2mi", "hugepages_2mi")
        or (EFA_HUGE_PAGES if group.efa_interfaces else 0),
        shared_memory_gib=_number(pool.node_settings, "limits.shared_memory_gib", "shared_memory_gib"),
        module_options=_module_options(pool),
        profile=render_profile(image.environment),
        lustre=lustre,
        gate=gate,
        node_check_packed=read_file("node_check.packed").strip(),
        node_check_expected=json.dumps(expected, sort_keys=True),
        check_unit=render_template("node-check.service.j2"),
        check_timer=render_template("node-check.timer.j2", minutes=CHECK_EVERY_MINUTES),
        before_hooks=before,
        after_hooks=after,
        after_unit=render_template("after-join.service.j2", hooks=after),
        pre_pull_script=render_template("pre_pull.sh.j2", images=pulled) if pulled else "",
        pre_pull_unit=render_template("pre-pull.service.j2"),
    )


def render_profile(environment: Mapping[str, str]) -> str:
    """Return `/etc/profile.d/gpukit.sh`: each variable with its reason above it."""
    rules = load_manifest().rules
    settings = [
        {"variable": key, "value": value, "because": explain_variable(rules, key, value)}
        for key, value in sorted(environment.items())
    ]
    return render_template("profile.sh.j2", settings=settings)


def squeeze_script(script: str) -> str:
    """Return a short script that unpacks the given one and runs it: what long hooks need to fit."""
    from gpukit.images.pack import PACKED, squeeze, unpack

    for name in PACKED:
        # What is packed already does not shrink again: it travels as plain text inside the packed whole.
        packed = read_file(f"{name}.packed").strip()
        script = script.replace(
            f"unpack >/opt/gpukit/{name}.py <<'END'\n{packed}\n",
            f"cat >/opt/gpukit/{name}.py <<'END'\n{unpack(packed)}\n",
        )
    return render_template("squeezed.sh.j2", packed=squeeze(script).rstrip("\n"))


def encode_user_data(text: str) -> str:
    """Return user data as base64, the way a launch template takes it."""
    return b64encode(text.encode()).decode()


def _mime(parts: list[tuple[str, str]]) -> str:
    """Return a MIME document whose boundary follows from its content: no clock, no random number."""
    from hashlib import sha256

    boundary = "gpukit-" + sha256("".join(text for _, text in parts).encode()).hexdigest()[:24]
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{boundary}"', ""]
    for kind, text in parts:
        lines += [f"--{boundary}", f'Content-Type: {kind}; charset="utf-8"', "", text.rstrip("\n"), ""]
    lines += [f"--{boundary}--", ""]
    return "\n".join(lines)


def _require_size(text: str, path: str, hooks: tuple[BootHookPlan, ...]) -> str:
    size = len(text.encode())
    if size <= USER_DATA_LIMIT_BYTES:
        return text
    largest = sorted(((len(hook.content.encode()), hook.name) for hook in hooks), reverse=True)[:3]
    listed = ", ".join(f"`{name}` {bytes_} bytes" for bytes_, name in largest) or "no hooks"
    raise UserDataTooLarge(
        f"{path}: the user data has {size} bytes, {size - USER_DATA_LIMIT_BYTES} too many",
        why=f"EC2 takes {USER_DATA_LIMIT_BYTES} bytes; the hooks are {listed}",
        fix="put the long script into the image or a bucket, and let the hook fetch and run it",
        source="EC2 User Guide, user data",
    )


def _kubelet_config(settings: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in sorted(settings.items()):
        if not key.startswith("kubelet."):
            continue
        word = key.removeprefix("kubelet.")
        found[_KUBELET_WORDS.get(word, word)] = _scalar(value)
    return found


def _local_storage(pool: PoolPlan) -> dict[str, Any]:
    """Return nodeadm's local storage part: one RAID 0 over all instance-store disks, mounted where the pool says."""
    if pool.local_nvme_role == "none":
        return {}
    storage: dict[str, Any] = {"strategy": "RAID0", "mountPath": pool.local_nvme_path or "/local"}
    if pool.local_nvme_role != "containers":
        # The disks belong to the job's data: container layers and pod logs stay on the root volume.
        storage["disabledMounts"] = ["Containerd", "PodLogs"]
    return storage


def _sysctls(pool: PoolPlan, group: NodeGroupPlan) -> dict[str, str]:
    found = dict(_NETWORK_SYSCTLS) if group.efa_interfaces else {}
    found |= {
        key.removeprefix("sysctl."): value for key, value in pool.node_settings.items() if key.startswith("sysctl.")
    }
    return dict(sorted(found.items()))


def _module_options(pool: PoolPlan) -> list[str]:
    if pool.gpu_model in ("GB200", "GB300"):
        # Without it NCCL silently falls back from EFA to TCP. Source: os_settings.csv (gb300r-note@2026).
        return ["options nvidia NVreg_GrdmaPciTopoCheckOverride=1"]
    return []


def _memlock_kib(text: str) -> str:
    if text == "unlimited":
        return text
    match = re.fullmatch(r"(\d+)([KMG])i?", text)
    if not match:
        raise ImageError(
            f"node.locked_memory `{text}`", why="it is a size or `unlimited`", fix="write it like `64Gi` or `unlimited`"
        )
    return str(int(match.group(1)) * {"K": 1, "M": 1024, "G": 1024**2}[match.group(2)])


def _number(settings: Mapping[str, str], *keys: str) -> int:
    for key in keys:
        if settings.get(key):
            return int(float(settings[key]))
    return 0


def _scalar(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    return int(text) if re.fullmatch(r"\d+", text) else text
