"""User data of EKS nodes: nodeadm's configuration and the boot hooks, as one MIME document."""

import json
from collections.abc import Mapping, Sequence

from gpukit.plan import BootHookPlan, ImagePlan, NodeGroupPlan, PoolPlan

_BOUNDARY = "gpukit-node"


def render_node_user_data(
    group: NodeGroupPlan,
    pool: PoolPlan,
    image: ImagePlan,
    cluster_name: str,
    endpoint: str,
    certificate_authority: str,
    service_cidr: str,
) -> str:
    """
    Return the user data of one node group.

    With an EKS-released image EKS adds the cluster's own part, and a second copy would be refused; with an image by id
    the node has to be told where its cluster is. Labels and taints come from the node group in both cases.
    """
    spec: dict[str, object] = {}
    if image.source != "eks-release":
        spec["cluster"] = {
            "name": cluster_name,
            "apiServerEndpoint": endpoint,
            "certificateAuthority": certificate_authority,
            "cidr": service_cidr,
        }
    kubelet = _kubelet_configuration(pool.node_settings)
    if kubelet:
        spec["kubelet"] = {"config": kubelet}
    if pool.local_nvme_role == "containers":
        spec["instance"] = {"localStorage": {"strategy": "RAID0"}}
    parts: list[tuple[str, str]] = []
    if spec:
        document = {"apiVersion": "node.eks.aws/v1alpha1", "kind": "NodeConfig", "spec": spec}
        parts.append(("application/node.eks.aws", json.dumps(document, indent=2, sort_keys=True)))
    settings = _render_settings(pool.node_settings)
    if settings:
        parts.append(('text/x-shellscript; charset="us-ascii"', settings))
    parts += [('text/x-shellscript; charset="us-ascii"', _hook(hook)) for hook in _before_join(pool.boot)]
    return _mime(parts) if parts else ""


def _kubelet_configuration(settings: Mapping[str, str]) -> dict[str, object]:
    return {
        key.removeprefix("kubelet."): int(value) if value.isdigit() else value
        for key, value in sorted(settings.items())
        if key.startswith("kubelet.")
    }


def _render_settings(settings: Mapping[str, str]) -> str:
    lines = [
        f"{key.removeprefix('sysctl.')} = {value}"
        for key, value in sorted(settings.items())
        if key.startswith("sysctl.")
    ]
    if not lines:
        return ""
    body = "\n".join(lines)
    return f"#!/bin/bash\nset -eu\ncat > /etc/sysctl.d/90-gpukit.conf <<'END'\n{body}\nEND\nsysctl --system\n"


def _before_join(hooks: Sequence[BootHookPlan]) -> list[BootHookPlan]:
    return [hook for hook in hooks if hook.when == "before-join"]


def _hook(hook: BootHookPlan) -> str:
    return hook.content if hook.content.startswith("#!") else f"#!/bin/bash\nset -eu\n{hook.content}\n"


def _mime(parts: Sequence[tuple[str, str]]) -> str:
    lines = ["MIME-Version: 1.0", f'Content-Type: multipart/mixed; boundary="{_BOUNDARY}"', ""]
    for kind, body in parts:
        lines += [f"--{_BOUNDARY}", f"Content-Type: {kind}", "", body.rstrip("\n"), ""]
    return "\n".join([*lines, f"--{_BOUNDARY}--", ""])
