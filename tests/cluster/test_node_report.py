"""The report of the node check on a real control plane: its manifests, its narrow role, condition and taint."""

import base64
import importlib.util
import urllib.error
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.sandbox import Sandbox

from gpukit.images.gate import NAME, NAMESPACE, render_gate_manifests
from gpukit.images.templating import HERE

pytestmark = pytest.mark.cluster

NODE = "report-test"
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
GOOD = {"healthy": True, "reason": "NodeHealthy", "message": ""}
BAD = {"healthy": False, "reason": "NvlinkDown", "message": "GPU 1 link 6: <inactive>"}


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("node_report", HERE / "files" / "node_report.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def installed(api: KubeApi) -> Iterator[None]:
    """Apply the manifests as people would."""
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    manifests = render_gate_manifests(python_image="public.ecr.aws/docker/library/python:3.13.7-slim")
    for manifest in manifests:
        api.apply(manifest)
    yield
    for manifest in reversed(manifests):
        meta = manifest["metadata"]
        api.delete(manifest["apiVersion"], manifest["kind"], meta["name"], meta.get("namespace"))


@pytest.fixture(scope="module")
def pod(
    box: Sandbox, api: KubeApi, script: ModuleType, installed: None, tmp_path_factory: pytest.TempPathFactory
) -> Any:
    """The API as the reporter's pod sees it: the token of its service account, and the cluster's certificate."""
    kubeconfig = yaml.safe_load(Path(box.status()["kubeconfig"]).read_text())
    cluster = kubeconfig["clusters"][0]["cluster"]
    folder = tmp_path_factory.mktemp("account")
    authority = cluster.get("certificate-authority-data")
    text = base64.b64decode(authority) if authority else Path(cluster["certificate-authority"]).read_bytes()
    (folder / "ca.crt").write_bytes(text)
    path = f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{NAME}/token"
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    (folder / "token").write_text(api.request("POST", path, request)["status"]["token"])
    return script.Api(str(folder), cluster["server"])


@pytest.fixture
def node(api: KubeApi) -> Iterator[str]:
    api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": NODE}, "spec": {"taints": [GPU_TAINT]}})
    yield NODE
    api.delete("v1", "Node", NODE)


def seen(api: KubeApi) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    found = api.get("v1", "Node", NODE)
    assert found is not None
    conditions = {item["type"]: item for item in found["status"].get("conditions", [])}
    taints = [item for item in found["spec"].get("taints", []) if not item["key"].startswith("node.kubernetes.io/")]
    return conditions.get("GpukitNodeHealthy", {}), taints


def test_a_broken_node_gets_condition_and_taint_and_loses_them_when_it_heals(
    api: KubeApi, script: ModuleType, pod: Any, node: str
) -> None:
    script.report(BAD, node, api=pod, now="2026-12-01T10:00:00Z")
    condition, taints = seen(api)
    assert (condition["status"], condition["reason"]) == ("False", "NvlinkDown")
    assert {item["key"]: item.get("value") for item in taints} == {
        "nvidia.com/gpu": "present",
        "gpukit.dev/node-check": "NvlinkDown",
    }

    script.report(BAD, node, api=pod, now="2026-12-01T10:01:00Z")
    assert seen(api)[0]["lastTransitionTime"] == "2026-12-01T10:00:00Z"

    script.report(GOOD, node, api=pod, now="2026-12-01T10:02:00Z")
    condition, taints = seen(api)
    assert (condition["status"], condition["lastTransitionTime"]) == ("True", "2026-12-01T10:02:00Z")
    assert [item["key"] for item in taints] == ["nvidia.com/gpu"]


def test_other_conditions_of_the_node_stay(api: KubeApi, script: ModuleType, pod: Any, node: str) -> None:
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "", "lastHeartbeatTime": None}
    api.request(
        "PATCH",
        f"/api/v1/nodes/{node}/status",
        {"status": {"conditions": [ready]}},
        content_type="application/strategic-merge-patch+json",
    )

    script.report(BAD, node, api=pod, now="2026-12-01T10:00:00Z")

    found = api.get("v1", "Node", node)
    assert found is not None
    assert {"Ready", "GpukitNodeHealthy"} <= {item["type"] for item in found["status"]["conditions"]}


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/secrets"),
        ("GET", "/api/v1/nodes"),
        ("DELETE", f"/api/v1/nodes/{NODE}"),
        ("GET", "/api/v1/namespaces/kube-system/configmaps"),
    ],
)
def test_the_reporter_may_do_nothing_else(pod: Any, node: str, method: str, path: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as refused:
        pod.call(method, path)

    assert refused.value.code == 403
