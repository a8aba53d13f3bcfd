"""
A node of an EKS node group as Kubernetes sees it. Pure: from what EC2 and EKS describe to a Node object.

Capacity comes from the instance type, EFA interfaces from the instance itself, so that a launch template that forgets them gives a node without EFA.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpukit_sandbox.kube.commands import NODE_ANNOTATION

JOINED_BY: Final = "gpukit.dev/joined-by"
"""Annotation of nodes that come from the cloud; others are never touched."""
INSTANCE_ANNOTATION: Final = "gpukit.dev/instance-id"
OWNED_LABELS: Final = "gpukit.dev/owned-labels"
"""Annotation: the labels that came from the node group, so that one taken off the group goes from its nodes too."""
EFFECTS: Final = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
EFA_HUGE_PAGES_MIB: Final = 5128 * 2
"""2 MiB pages that EKS's EFA nodes set aside. Source: EKS User Guide, "Run machine learning training on Amazon EKS with EFA", 2026-08."""
MAX_PODS: Final = 110
MAX_PODS_LARGE: Final = 250
"""Pods a node with prefix delegation: up to 30 vCPU, and above. Source: EKS best practices, "Prefix mode", 2026-08."""
_CPU_RESERVED: Final = ((1, 60), (1, 10), (2, 5))
"""Kubelet's share in millicores: 6 % of the first core, 1 % of the second, 0.5 % of the next two, 0.25 % beyond. Source: amazon-eks-ami, nodeadm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hardware:
    """What a type brings."""

    vcpu: int
    memory_mib: int
    gpus: int
    gpu_model: str
    architecture: str
    """amd64 | arm64, as Kubernetes says it."""


def hardware_of(instance_type: str) -> Hardware:
    """Return the hardware of a type, from gpukit's catalogue, else from EC2's own description."""
    from gpukit.catalog import load_catalog
    from gpukit_sandbox.cloud.hardware import architectures, describe_type

    catalog = load_catalog()
    architecture = "arm64" if "arm64" in architectures(instance_type) else "amd64"
    described = describe_type(instance_type) or {}
    memory = int((described.get("MemoryInfo") or {}).get("SizeInMiB") or 0)
    vcpu = int((described.get("VCpuInfo") or {}).get("DefaultVCpus") or 0)
    gpus, model = 0, ""
    if catalog.has_instance_type(instance_type):
        known = catalog.instance_type(instance_type)
        gpus, model = int(known.gpu_count), known.gpu_model
        vcpu, memory = vcpu or known.vcpu, memory or int((known.memory_gib or 0) * 1024)
    return Hardware(vcpu=vcpu, memory_mib=memory, gpus=gpus, gpu_model=model, architecture=architecture)


def render_node(
    instance: Mapping[str, Any],
    nodegroup: Mapping[str, Any],
    hardware: Hardware,
    *,
    region: str,
    network_nodes: Sequence[str] = (),
    zone_id: str = "",
    version: str = "",
) -> dict[str, Any]:
    """Return the Node of an instance, with its status."""
    name = node_name(instance)
    labels = {
        **labels_of_instance(
            instance, nodegroup, hardware, region=region, network_nodes=network_nodes, zone_id=zone_id
        ),
        **(nodegroup.get("labels") or {}),
    }
    key, _, value = NODE_ANNOTATION.partition("=")
    capacity = capacity_of(instance, hardware)
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **labels},
            "annotations": {
                key: value,
                JOINED_BY: f"{region}/{nodegroup['clusterName']}/{nodegroup['nodegroupName']}",
                INSTANCE_ANNOTATION: instance["InstanceId"],
                OWNED_LABELS: ",".join(sorted(nodegroup.get("labels") or {})),
            },
        },
        "spec": {
            "providerID": f"aws:///{instance['Placement']['AvailabilityZone']}/{instance['InstanceId']}",
            "taints": taints_of(nodegroup),
        },
        "status": {
            "capacity": capacity,
            "allocatable": allocatable_of(capacity, hardware),
            "addresses": [
                {"type": "InternalIP", "address": instance.get("PrivateIpAddress") or "127.0.0.1"},
                {"type": "InternalDNS", "address": name},
                {"type": "Hostname", "address": name},
            ],
            "nodeInfo": {
                "architecture": hardware.architecture,
                "bootID": "",
                "containerRuntimeVersion": "containerd://2.1.5",
                "kernelVersion": "6.12",
                "kubeProxyVersion": version,
                "kubeletVersion": version,
                "machineID": instance["InstanceId"],
                "operatingSystem": "linux",
                "osImage": f"Amazon Linux 2023 ({nodegroup.get('amiType', '')})",
                "systemUUID": instance["InstanceId"],
            },
        },
    }


def node_name(instance: Mapping[str, Any]) -> str:
    """Return the node's name: the private DNS name, as EKS does; an instance without one is named by its id."""
    return str(instance.get("PrivateDnsName") or f"{instance['InstanceId']}.compute.internal").lower()


def labels_of_instance(
    instance: Mapping[str, Any],
    nodegroup: Mapping[str, Any],
    hardware: Hardware,
    *,
    region: str,
    network_nodes: Sequence[str],
    zone_id: str,
) -> dict[str, str]:
    """Return the labels that kubelet, the cloud provider and EKS give. Source: kubernetes/cloud-provider-aws; EKS User Guide, 2026-08."""
    labels = {
        "kubernetes.io/arch": hardware.architecture,
        "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": instance["InstanceType"],
        "topology.kubernetes.io/region": region,
        "topology.kubernetes.io/zone": instance["Placement"]["AvailabilityZone"],
        "eks.amazonaws.com/nodegroup": nodegroup["nodegroupName"],
        "eks.amazonaws.com/nodegroup-image": instance.get("ImageId", ""),
        "eks.amazonaws.com/capacityType": nodegroup.get("capacityType", "ON_DEMAND"),
    }
    if zone_id:
        labels["topology.k8s.aws/zone-id"] = zone_id
    template = nodegroup.get("launchTemplate") or {}
    if template.get("id"):
        labels |= {
            "eks.amazonaws.com/sourceLaunchTemplateId": template["id"],
            "eks.amazonaws.com/sourceLaunchTemplateVersion": str(template.get("version", "")),
        }
    for layer, node in enumerate(network_nodes, start=1):
        labels[f"topology.k8s.aws/network-node-layer-{layer}"] = node
    return labels


def taints_of(nodegroup: Mapping[str, Any]) -> "list[dict[str, str]]":
    """Return the node group's taints in Kubernetes' spelling."""
    return [
        {"key": taint["key"], "value": taint.get("value", ""), "effect": EFFECTS[taint["effect"]]}
        for taint in nodegroup.get("taints") or []
    ]


def capacity_of(instance: Mapping[str, Any], hardware: Hardware) -> dict[str, str]:
    """Return what the node has: processors, memory, disk, GPUs, EFA interfaces with their huge pages."""
    efa = sum(
        1
        for interface in instance.get("NetworkInterfaces") or []
        if interface.get("InterfaceType") in ("efa", "efa-only")
    )
    capacity = {
        "cpu": str(hardware.vcpu),
        "memory": f"{hardware.memory_mib}Mi",
        "pods": str(MAX_PODS if hardware.vcpu <= 30 else MAX_PODS_LARGE),
        "ephemeral-storage": f"{_root_gib(instance)}Gi",
    }
    if hardware.gpus:
        capacity["nvidia.com/gpu"] = str(hardware.gpus)
    if efa:
        capacity |= {"vpc.amazonaws.com/efa": str(efa), "hugepages-2Mi": f"{EFA_HUGE_PAGES_MIB}Mi"}
    return capacity


def allocatable_of(capacity: Mapping[str, str], hardware: Hardware) -> dict[str, str]:
    """Return what is left for pods after the kubelet's share, by EKS's formula, and after huge pages."""
    pods = int(capacity["pods"])
    pages = int(capacity.get("hugepages-2Mi", "0Mi").removesuffix("Mi"))
    memory = hardware.memory_mib - (255 + 11 * pods) - 100 - pages
    return {
        **capacity,
        "cpu": f"{hardware.vcpu * 1000 - _reserved_millicores(hardware.vcpu)}m",
        "memory": f"{max(memory, 0)}Mi",
    }


def _reserved_millicores(vcpu: int) -> int:
    reserved, left = 0.0, vcpu
    for cores, each in _CPU_RESERVED:
        counted = min(cores, left)
        reserved += counted * each
        left -= counted
    return int(reserved + left * 2.5)


def _root_gib(instance: Mapping[str, Any]) -> int:
    return int(instance.get("_root_gib") or 20)
