"""The EKS cluster of the double is the control plane: its address, who may do what, and its node groups' nodes."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from gpukit_sandbox.errors import SandboxError
from gpukit_sandbox.kube.api import KubeApi, KubeRefused
from gpukit_sandbox.kube.token import make_token
from gpukit_sandbox.sandbox import Sandbox

from tests.cluster.eks_world import EksWorld, make_eks_cluster, make_node_group, make_principal
from tests.cluster.support import is_ready, wait_for

pytestmark = [pytest.mark.cluster, pytest.mark.slow]


@pytest.fixture(scope="module")
def world(aws: Any) -> EksWorld:
    return make_eks_cluster(aws, "research")


@pytest.fixture
def as_role(box: Sandbox, api: KubeApi, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return clients that call the cluster as a role, through a token as the plug-in makes it."""
    for name, value in box.variables().items():
        if name.startswith("AWS_"):
            monkeypatch.setenv(name, value)

    def client(role: str | None, cluster: str = "research") -> KubeApi:
        return KubeApi(server=api.server, ca_file=api.ca_file, token=make_token(cluster, "us-east-1", role_arn=role))

    return client


def nodes_of(api: KubeApi, group: str) -> list[dict[str, Any]]:
    return api.list("v1", "Node", labels=f"eks.amazonaws.com/nodegroup={group}")


def test_a_cluster_is_described_with_the_control_planes_address_and_authority(
    aws: Any, api: KubeApi, world: EksWorld
) -> None:
    described = aws("eks").describe_cluster(name=world.name)["cluster"]

    reached = KubeApi(server=described["endpoint"], ca_data=described["certificateAuthority"]["data"], token=api.token)

    assert reached.version() == api.version()


def test_the_creator_administers_the_cluster_with_the_plug_ins_token(
    box: Sandbox, api: KubeApi, world: EksWorld
) -> None:
    plugin = box.directory.bin / "gpukit-eks-token"
    command = [str(plugin), "--cluster-name", world.name, "--region", "us-east-1"]
    done = subprocess.run(command, env=box.environment(), capture_output=True, text=True, check=True)
    credential = json.loads(done.stdout)
    caller = KubeApi(server=api.server, ca_file=api.ca_file, token=credential["status"]["token"])

    caller.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "by-creator"}})

    assert credential["kind"] == "ExecCredential"
    assert caller.delete("v1", "Namespace", "by-creator")


def test_a_viewer_reads_and_does_not_write(aws: Any, world: EksWorld, as_role: Any) -> None:
    viewer = as_role(make_principal(aws, world, "viewer", "AmazonEKSViewPolicy"))

    assert viewer.list("v1", "Pod") == []
    with pytest.raises(KubeRefused, match="403 Forbidden"):
        viewer.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": "default"}})
    with pytest.raises(KubeRefused, match="403 Forbidden"):
        viewer.list("v1", "Secret")


def test_an_editor_of_one_namespace_has_no_rights_in_another(
    aws: Any, api: KubeApi, world: EksWorld, as_role: Any
) -> None:
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
    editor = as_role(make_principal(aws, world, "editor", "AmazonEKSEditPolicy", namespaces=("team-a",)))

    def writes(namespace: str) -> bool:
        try:
            editor.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x", "namespace": namespace}})
        except KubeRefused:
            return False
        return True

    wait_for(lambda: writes("team-a"), seconds=60)

    assert not writes("default")


@pytest.mark.parametrize("kind", ["no entry", "other cluster", "made up"])
def test_a_principal_without_an_entry_gets_nothing(
    aws: Any, api: KubeApi, world: EksWorld, as_role: Any, kind: str
) -> None:
    if kind == "no entry":
        caller = as_role(make_principal(aws, world, "stranger"))
    elif kind == "other cluster":
        caller = as_role(None, cluster="another")
    else:
        caller = KubeApi(server=api.server, ca_file=api.ca_file, token="k8s-aws-v1.aHR0cDovL2V4YW1wbGUuY29tLw")

    with pytest.raises(KubeRefused, match="401"):
        caller.list("v1", "Pod")


def test_nodes_join_with_the_groups_labels_and_taints_and_follow_it_until_it_is_gone(
    aws: Any, api: KubeApi, world: EksWorld
) -> None:
    eks = aws("eks")
    make_node_group(
        aws,
        world,
        "workers",
        scalingConfig={"minSize": 0, "maxSize": 4, "desiredSize": 2},
        labels={"gpukit/role": "system"},
        taints=[{"key": "dedicated", "value": "system", "effect": "NO_SCHEDULE"}],
    )
    wait_for(lambda: len(found := nodes_of(api, "workers")) == 2 and all(map(is_ready, found)))
    node = nodes_of(api, "workers")[0]

    assert node["metadata"]["labels"]["gpukit/role"] == "system"
    assert node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "m7i.xlarge"
    assert {"key": "dedicated", "value": "system", "effect": "NoSchedule"} in node["spec"]["taints"]
    assert node["status"]["capacity"]["cpu"] == "4"
    zones = {each["metadata"]["labels"]["topology.kubernetes.io/zone"] for each in nodes_of(api, "workers")}
    assert zones == {"us-east-1a", "us-east-1b"}

    eks.update_nodegroup_config(
        clusterName=world.name,
        nodegroupName="workers",
        scalingConfig={"desiredSize": 4},
        labels={"removeLabels": ["gpukit/role"], "addOrUpdateLabels": {"stage": "two"}},
    )
    wait_for(lambda: len(nodes_of(api, "workers")) == 4)
    wait_for(lambda: all(each["metadata"]["labels"].get("stage") == "two" for each in nodes_of(api, "workers")))
    assert not any("gpukit/role" in each["metadata"]["labels"] for each in nodes_of(api, "workers"))

    eks.update_nodegroup_config(clusterName=world.name, nodegroupName="workers", scalingConfig={"desiredSize": 1})
    wait_for(lambda: len(nodes_of(api, "workers")) == 1)

    eks.delete_nodegroup(clusterName=world.name, nodegroupName="workers")
    wait_for(lambda: nodes_of(api, "workers") == [])


def test_a_gpu_group_short_of_capacity_gives_fewer_nodes_and_says_so(
    aws: Any, api: KubeApi, box: Sandbox, world: EksWorld
) -> None:
    from gpukit_sandbox.cloud.world import write_faults

    endpoint = box.status()["endpoint"]
    write_faults(endpoint, {"capacity": [{"instance_type": "g6.xlarge", "zone": "us-east-1a", "available": 1}]})
    try:
        make_node_group(
            aws,
            world,
            "gpus",
            instanceTypes=["g6.xlarge"],
            subnets=[world.subnets[0]],
            scalingConfig={"minSize": 0, "maxSize": 3, "desiredSize": 3},
        )
        wait_for(lambda: len(found := nodes_of(api, "gpus")) == 1 and all(map(is_ready, found)))
        group = aws("eks").describe_nodegroup(clusterName=world.name, nodegroupName="gpus")["nodegroup"]

        assert [issue["code"] for issue in group["health"]["issues"]] == ["AsgInstanceLaunchFailures"]
        assert nodes_of(api, "gpus")[0]["status"]["capacity"]["nvidia.com/gpu"] == "1"
        assert "topology.k8s.aws/network-node-layer-3" in nodes_of(api, "gpus")[0]["metadata"]["labels"]
    finally:
        write_faults(endpoint, {})
        aws("eks").delete_nodegroup(clusterName=world.name, nodegroupName="gpus")


def test_a_node_that_the_joiner_did_not_make_is_left_alone(aws: Any, api: KubeApi, world: EksWorld) -> None:
    api.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "foreign", "annotations": {"kwok.x-k8s.io/node": "fake"}},
        }
    )
    make_node_group(aws, world, "passing", scalingConfig={"minSize": 0, "maxSize": 1, "desiredSize": 1})
    wait_for(lambda: len(nodes_of(api, "passing")) == 1)

    aws("eks").delete_nodegroup(clusterName=world.name, nodegroupName="passing")
    wait_for(lambda: nodes_of(api, "passing") == [])

    assert api.get("v1", "Node", "foreign") is not None
    api.delete("v1", "Node", "foreign")


def test_a_users_kubeconfig_that_cannot_be_read_is_refused_before_anything_starts(tmp_path: Path) -> None:
    box = Sandbox("foreign")
    with pytest.raises(SandboxError, match="cannot be read"):
        box.up(kubeconfig=tmp_path / "missing")

    assert not box.directory.root.exists()


def test_a_users_kubeconfig_is_used_and_handed_to_commands(box: Sandbox, tmp_path: Path) -> None:
    copy = tmp_path / "kubeconfig"
    copy.write_text(Path(box.status()["kubeconfig"]).read_text(encoding="utf-8"), encoding="utf-8")
    guest = Sandbox("guest")
    try:
        guest.up(kubeconfig=copy)

        assert guest.variables()["KUBECONFIG"] == str(copy)
        assert [part["name"] for part in guest.status()["parts"]] == ["cloud"]
    finally:
        guest.down(purge=True)
