"""From what EC2 and EKS describe to a node, and what makes the cluster's nodes those of the cloud."""

from typing import Any

import pytest
from gpukit_sandbox.kube.node_joiner import compare, difference
from gpukit_sandbox.kube.nodes import allocatable_of, capacity_of, hardware_of, render_node

GROUP = {
    "clusterName": "c",
    "nodegroupName": "train-1",
    "labels": {"gpukit/pool": "train"},
    "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}],
    "capacityType": "CAPACITY_BLOCK",
    "launchTemplate": {"id": "lt-1", "version": "3"},
}


def instance(number: int = 1, efa: int = 16, **changes: Any) -> dict[str, Any]:
    return {
        "InstanceId": f"i-{number}",
        "InstanceType": "p5en.48xlarge",
        "PrivateIpAddress": f"10.0.0.{number}",
        "PrivateDnsName": f"ip-10-0-0-{number}.ec2.internal",
        "Placement": {"AvailabilityZone": "us-east-1a"},
        "NetworkInterfaces": [{"InterfaceType": "interface"}, *[{"InterfaceType": "efa-only"}] * efa],
        **changes,
    }


def node(number: int = 1, group: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return render_node(
        instance(number, **changes),
        group or GROUP,
        hardware_of("p5en.48xlarge"),
        region="us-east-1",
        network_nodes=("nn-a", "nn-b", "nn-c"),
        zone_id="use1-az4",
        version="v1.36.3",
    )


@pytest.mark.parametrize(
    ("instance_type", "gpus", "architecture"),
    [
        pytest.param("p5en.48xlarge", 8, "amd64", id="p5en"),
        pytest.param("p6e-gb200.36xlarge", 4, "arm64", id="rack-scale"),
        pytest.param("m7i.xlarge", 0, "amd64", id="no-gpu"),
        pytest.param("m7g.4xlarge", 0, "arm64", id="no-gpu-arm"),
    ],
)
def test_hardware_comes_from_the_catalogue_and_ec2(instance_type: str, gpus: int, architecture: str) -> None:
    found = hardware_of(instance_type)

    assert (found.gpus, found.architecture) == (gpus, architecture)
    assert found.vcpu > 0
    assert found.memory_mib > 0


def test_a_node_offers_gpus_of_its_type_and_efa_of_its_interfaces() -> None:
    capacity = node()["status"]["capacity"]

    assert (capacity["nvidia.com/gpu"], capacity["vpc.amazonaws.com/efa"]) == ("8", "16")
    assert capacity["cpu"] == "192"


def test_a_launch_template_that_forgets_efa_gives_a_node_without_it() -> None:
    assert "vpc.amazonaws.com/efa" not in node(efa=0)["status"]["capacity"]


def test_less_is_allocatable_than_there_is_and_gpus_stay_whole() -> None:
    hardware = hardware_of("p5en.48xlarge")
    capacity = capacity_of(instance(), hardware)
    allocatable = allocatable_of(capacity, hardware)

    assert allocatable["nvidia.com/gpu"] == capacity["nvidia.com/gpu"]
    assert int(allocatable["cpu"].removesuffix("m")) < 192_000
    assert int(allocatable["memory"].removesuffix("Mi")) < int(capacity["memory"].removesuffix("Mi"))


def test_a_node_carries_what_kubelet_cloud_provider_and_eks_label_and_the_groups_taints() -> None:
    made = node()
    labels = made["metadata"]["labels"]

    assert labels["kubernetes.io/hostname"] == made["metadata"]["name"] == "ip-10-0-0-1.ec2.internal"
    assert labels["topology.kubernetes.io/zone"] == "us-east-1a"
    assert labels["topology.k8s.aws/zone-id"] == "use1-az4"
    assert [labels[f"topology.k8s.aws/network-node-layer-{n}"] for n in (1, 2, 3)] == ["nn-a", "nn-b", "nn-c"]
    assert labels["eks.amazonaws.com/nodegroup"] == "train-1"
    assert labels["gpukit/pool"] == "train"
    assert made["spec"]["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}]
    assert made["spec"]["providerID"] == "aws:///us-east-1a/i-1"


def by_name(*nodes: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in nodes}


def test_new_instances_join_and_gone_ones_leave() -> None:
    changes = compare(by_name(node(1), node(2)), by_name(node(2), node(3)))

    assert [each["metadata"]["name"] for each in changes.join] == ["ip-10-0-0-1.ec2.internal"]
    assert changes.leave == ("ip-10-0-0-3.ec2.internal",)
    assert changes.change == ()


def test_an_address_that_went_to_another_instance_is_another_node() -> None:
    replacement = node(1, InstanceId="i-new")
    changes = compare(by_name(replacement), by_name(node(1)))

    assert changes.join == (replacement,)
    assert changes.leave == ("ip-10-0-0-1.ec2.internal",)


def test_a_label_taken_off_the_group_goes_from_its_nodes_and_others_stay() -> None:
    present = node(1)
    present["metadata"]["labels"] |= {"set-by-somebody": "else"}
    wanted = node(1, group={**GROUP, "labels": {"stage": "two"}})

    patch = difference(wanted, present)

    assert patch["metadata"]["labels"] == {"stage": "two", "gpukit/pool": None}


def test_taints_that_kubernetes_adds_stay() -> None:
    present = node(1)
    not_ready = {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}
    present["spec"]["taints"] = [*present["spec"]["taints"], not_ready]

    assert difference(node(1), present) == {}
    patch = difference(node(1, group={**GROUP, "taints": []}), present)
    assert patch["spec"]["taints"] == [not_ready]
