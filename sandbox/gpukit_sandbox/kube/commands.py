"""The command line of each part of the control plane. Pure: from paths and ports to arguments."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpukit_sandbox.kube.layout import SERVICE_RANGE, KubeDirectory

NODE_ANNOTATION: Final = "kwok.x-k8s.io/node=fake"
LEASE_SECONDS: Final = 40
CONTROLLERS: Final = "*,-nodeipam,-cloud-node-lifecycle-controller,-service-lb-controller,-node-route-controller"
"""The last four need a cloud provider, which a double of the API alone cannot be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartCommand:
    """One process to start."""

    name: str
    tool: str
    arguments: tuple[str, ...]


def etcd_command(directory: KubeDirectory, ports: Mapping[str, int]) -> PartCommand:
    """Return etcd without fsync: a sandbox may lose its last second, and saves most of its start-up."""
    client, peer = f"http://127.0.0.1:{ports['etcd']}", f"http://127.0.0.1:{ports['etcd-peer']}"
    return PartCommand(
        name="etcd",
        tool="etcd",
        arguments=(
            "--name=default",
            f"--data-dir={directory.etcd}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ),
    )


def apiserver_command(directory: KubeDirectory, ports: Mapping[str, int]) -> PartCommand:
    """Return the API server: RBAC, a static administrator, EKS-like tokens by webhook, the admission plug-in that EKS enables."""
    pki = directory.certificates
    return PartCommand(
        name="kube-apiserver",
        tool="kube-apiserver",
        arguments=(
            f"--etcd-servers=http://127.0.0.1:{ports['etcd']}",
            "--bind-address=127.0.0.1",
            f"--secure-port={ports['apiserver']}",
            f"--tls-cert-file={pki / 'server.crt'}",
            f"--tls-private-key-file={pki / 'server.key'}",
            f"--token-auth-file={directory.tokens}",
            f"--authentication-token-webhook-config-file={directory.authenticator_config}",
            "--authentication-token-webhook-version=v1",
            "--authentication-token-webhook-cache-ttl=5s",
            "--authorization-mode=RBAC",
            "--anonymous-auth=false",
            f"--service-account-issuer=https://127.0.0.1:{ports['apiserver']}",
            f"--service-account-key-file={pki / 'sa.pub'}",
            f"--service-account-signing-key-file={pki / 'sa.key'}",
            f"--service-cluster-ip-range={SERVICE_RANGE}",
            # Without an address that pods could reach there is nothing to publish, and no lease to wait for at the end.
            "--endpoint-reconciler-type=none",
            "--disable-admission-plugins=ServiceAccount",
            # EKS has it on: pods that ask for a GPU tolerate the taint of that name.
            "--enable-admission-plugins=ExtendedResourceToleration",
            "--allow-privileged=true",
            "--profiling=false",
        ),
    )


def controller_manager_command(directory: KubeDirectory) -> PartCommand:
    """Return the controller manager; a sick node's pods are judged after seconds, as the drill has no minutes."""
    return PartCommand(
        name="kube-controller-manager",
        tool="kube-controller-manager",
        arguments=(
            f"--kubeconfig={directory.kubeconfig}",
            f"--controllers={CONTROLLERS}",
            "--leader-elect=false",
            "--secure-port=0",
            f"--service-account-private-key-file={directory.certificates / 'sa.key'}",
            f"--root-ca-file={directory.certificates / 'ca.crt'}",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
            "--concurrent-job-syncs=10",
            "--profiling=false",
        ),
    )


def scheduler_command(directory: KubeDirectory) -> PartCommand:
    """Return the scheduler."""
    return PartCommand(
        name="kube-scheduler",
        tool="kube-scheduler",
        arguments=(
            f"--kubeconfig={directory.kubeconfig}",
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=200",
            "--kube-api-burst=400",
            "--profiling=false",
        ),
    )


def kwok_command(directory: KubeDirectory) -> PartCommand:
    """Return KWOK for the nodes that carry its annotation, and no others."""
    return PartCommand(
        name="kwok",
        tool="kwok",
        arguments=(
            f"--kubeconfig={directory.kubeconfig}",
            f"--config={directory.stages}",
            f"--manage-nodes-with-annotation-selector={NODE_ANNOTATION}",
            f"--node-lease-duration-seconds={LEASE_SECONDS}",
            "--cidr=10.128.0.0/9",
            # No kubelet server: two sandboxes side by side would fight for its port.
            "--node-port=0",
            "--v=WARN",
        ),
    )


def kueue_command(directory: KubeDirectory) -> PartCommand:
    """Return Kueue beside the control plane."""
    return PartCommand(
        name="kueue",
        tool="kueue",
        arguments=(
            f"--kubeconfig={directory.kubeconfig}",
            f"--config={directory.kueue_config}",
            # It would serve an aggregated API, which needs an address inside the cluster.
            "--feature-gates=VisibilityOnDemand=false",
            "--zap-log-level=info",
        ),
    )


def python_command(name: str, python: str, module: str, *arguments: str | Path) -> PartCommand:
    """Return one of our own processes."""
    return PartCommand(name=name, tool=python, arguments=("-m", module, *map(str, arguments)))
