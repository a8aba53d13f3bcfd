"""
The Kubernetes side of the start-up gate: a DaemonSet that tells what the check on each GPU node found.

A node that fails at start registers with a taint by itself. Later changes need the API: a kubelet may not change its
own taints (NodeRestriction), so a pod with a narrow role sets the condition `GpukitNodeHealthy` and the taint
`gpukit.dev/node-check`. Replacing nodes is not its job: `node_report.decide_replacements` says which may go, by two
independent signals and at a capped rate.
"""

from typing import Any, Final

from gpukit.images.templating import read_file

NAMESPACE: Final = "gpukit-system"
NAME: Final = "gpukit-node-report"
EVERY_SECONDS: Final = 60


def render_gate_manifests(
    *, python_image: str, node_selector: dict[str, str] | None = None
) -> tuple[dict[str, Any], ...]:
    """
    Return ServiceAccount, role, ConfigMap and DaemonSet in the order in which they are applied.

    `python_image` is an exact image with Python 3.9 or later. `node_selector` picks the GPU nodes; by default those
    with the label `nvidia.com/gpu.present`, which NVIDIA's feature discovery sets.
    """
    from gpukit.images.choose import require_exact_container

    require_exact_container(python_image, "health.report_image")
    labels = {"app.kubernetes.io/name": NAME, "app.kubernetes.io/part-of": "gpukit"}
    meta = {"name": NAME, "namespace": NAMESPACE, "labels": labels}
    return (
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta},
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": NAME, "labels": labels},
            "rules": [
                {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "patch"]},
                {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["patch"]},
            ],
        },
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": NAME, "labels": labels},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
            "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": NAMESPACE}],
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": meta,
            "data": {"node_report.py": read_file("node_report.py")},
        },
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": meta,
            "spec": {
                "selector": {"matchLabels": {"app.kubernetes.io/name": NAME}},
                # All nodes at once: a report that is late on a thousand nodes is a report that is late.
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%"}},
                "template": {"metadata": {"labels": labels}, "spec": _pod(python_image, node_selector)},
            },
        },
    )


def _pod(python_image: str, node_selector: dict[str, str] | None) -> dict[str, Any]:
    return {
        "serviceAccountName": NAME,
        "nodeSelector": node_selector or {"nvidia.com/gpu.present": "true"},
        # It has to run exactly where nothing else may.
        "tolerations": [{"operator": "Exists"}],
        "priorityClassName": "system-node-critical",
        "containers": [
            {
                "name": "report",
                "image": python_image,
                "command": [
                    "python3",
                    "/opt/gpukit/node_report.py",
                    "--verdict",
                    "/run/gpukit/node-check.json",
                    "--every",
                    str(EVERY_SECONDS),
                ],
                "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                "resources": {"requests": {"cpu": "5m", "memory": "32Mi"}, "limits": {"memory": "64Mi"}},
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                    "readOnlyRootFilesystem": True,
                    "runAsNonRoot": True,
                    "runAsUser": 65534,
                },
                "volumeMounts": [
                    {"name": "script", "mountPath": "/opt/gpukit", "readOnly": True},
                    {"name": "verdict", "mountPath": "/run/gpukit", "readOnly": True},
                ],
            }
        ],
        "volumes": [
            {"name": "script", "configMap": {"name": NAME}},
            {"name": "verdict", "hostPath": {"path": "/run/gpukit", "type": "DirectoryOrCreate"}},
        ],
    }
