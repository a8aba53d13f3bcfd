"""Pulumi's own Kubernetes provider on the sandbox's control plane: what it makes is there, is stable, and goes without a trace."""

from pathlib import Path

import pytest
from gpukit_sandbox.engine import Engine
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.sandbox import Sandbox

from tests.cluster.support import KUEUE

pytestmark = [pytest.mark.cluster, pytest.mark.engine, pytest.mark.slow]

PROGRAM = """
import pulumi
import pulumi_kubernetes as k8s

provider = k8s.Provider("cluster", kubeconfig=pulumi.Config().require("kubeconfig"), enable_server_side_apply=True)
opts = pulumi.ResourceOptions(provider=provider)
k8s.core.v1.Namespace("team", metadata={"name": "by-pulumi"}, opts=opts)
k8s.core.v1.NodePatch("hall", metadata={"name": "host-1", "labels": {"gpukit/cooling-zone": "hall-a"}}, opts=opts)
k8s.apiextensions.CustomResource(
    "hosts",
    api_version="kueue.x-k8s.io/v1beta2",
    kind="Topology",
    metadata={"name": "hosts"},
    spec={"levels": [{"nodeLabel": "kubernetes.io/hostname"}]},
    opts=opts,
)
"""


def test_a_program_comes_up_is_stable_and_gives_a_nodes_labels_back(box: Sandbox, api: KubeApi, tmp_path: Path) -> None:
    node = {"name": "host-1", "labels": {"own": "label"}, "annotations": {"kwok.x-k8s.io/node": "fake"}}
    api.create({"apiVersion": "v1", "kind": "Node", "metadata": node})
    (tmp_path / "Pulumi.yaml").write_text("name: on-cluster\nruntime: python\n", encoding="utf-8")
    (tmp_path / "__main__.py").write_text(PROGRAM, encoding="utf-8")
    kubeconfig = box.status()["kubeconfig"]
    engine = Engine(sandbox=box, project=tmp_path, stack="test", config={"on-cluster:kubeconfig": kubeconfig})
    engine.select()
    try:
        engine.up()

        labels = (api.get("v1", "Node", "host-1") or {})["metadata"]["labels"]
        assert (labels["gpukit/cooling-zone"], labels["own"]) == ("hall-a", "label")
        assert api.get(KUEUE, "Topology", "hosts") is not None
        assert engine.preview_json()["changeSummary"] == {"same": 5}
    finally:
        engine.destroy()

    labels = (api.get("v1", "Node", "host-1") or {})["metadata"]["labels"]
    assert "gpukit/cooling-zone" not in labels
    assert labels["own"] == "label"
    assert api.get(KUEUE, "Topology", "hosts") is None
    api.delete("v1", "Node", "host-1")
