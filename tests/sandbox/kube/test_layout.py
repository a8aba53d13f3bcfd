"""Ports, files and command lines of a control plane: everything on 127.0.0.1, nothing twice, the same after a restart."""

import socket
from pathlib import Path

import pytest
from gpukit_sandbox.kube import commands
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.certificates import make_certificates, make_webhook_certificates
from gpukit_sandbox.kube.kueue import render_configuration, render_objects
from gpukit_sandbox.kube.layout import PORTS, KubeDirectory, admin_token, choose_ports, write_kubeconfig


@pytest.fixture
def directory(tmp_path: Path) -> KubeDirectory:
    return KubeDirectory(root=tmp_path, logs=tmp_path / "logs")


def test_ports_are_distinct_and_the_same_next_time(directory: KubeDirectory) -> None:
    first = choose_ports(directory)

    assert sorted(first) == sorted(PORTS)
    assert len(set(first.values())) == len(PORTS)
    assert choose_ports(directory) == first


def test_a_port_that_somebody_took_meanwhile_is_replaced(directory: KubeDirectory) -> None:
    first = choose_ports(directory)
    with socket.socket() as guest:
        guest.bind(("127.0.0.1", first["apiserver"]))
        guest.listen()
        second = choose_ports(directory)

    assert second["apiserver"] != first["apiserver"]
    assert {name: port for name, port in second.items() if name != "apiserver"} == {
        name: port for name, port in first.items() if name != "apiserver"
    }


def test_everything_listens_on_this_machine_alone(directory: KubeDirectory) -> None:
    ports = dict.fromkeys(PORTS, 1)
    text = " ".join(commands.etcd_command(directory, ports).arguments)
    server = commands.apiserver_command(directory, ports).arguments

    assert "0.0.0.0" not in text
    assert text.count("http://127.0.0.1:") == 5
    assert "--bind-address=127.0.0.1" in server
    assert "--anonymous-auth=false" in server
    assert "--enable-admission-plugins=ExtendedResourceToleration" in server


def test_the_administrators_token_and_files_are_for_their_owner_alone(directory: KubeDirectory) -> None:
    token = admin_token(directory)
    make_certificates(directory.certificates, service_ip="10.100.0.1")
    write_kubeconfig(
        directory.kubeconfig,
        server="https://127.0.0.1:1",
        certificate_authority=directory.certificates / "ca.crt",
        user={"token": token},
        name="x",
    )

    assert admin_token(directory) == token
    secret = [directory.tokens, directory.kubeconfig, *directory.certificates.glob("*.key")]
    assert [oct(path.stat().st_mode & 0o777) for path in secret] == ["0o600"] * len(secret)
    assert KubeApi.from_kubeconfig(directory.kubeconfig).token == token


def test_certificates_are_made_once(directory: KubeDirectory) -> None:
    first = make_webhook_certificates(directory.kueue_certificates, authority_name="kueue-ca", dns_name="a.b.svc")

    assert (
        make_webhook_certificates(directory.kueue_certificates, authority_name="kueue-ca", dns_name="a.b.svc") == first
    )


def test_kueues_webhooks_call_this_machine_and_leave_the_systems_pods_alone() -> None:
    certificates = {"ca.crt": b"A", "ca.key": b"B", "tls.crt": b"C", "tls.key": b"D"}
    hook = {
        "name": "mpod.kb.io",
        "clientConfig": {"service": {"name": "s", "namespace": "n", "path": "/mutate--v1-pod"}},
    }
    sources = [
        {
            "kind": "CustomResourceDefinition",
            "metadata": {"name": "workloads.kueue.x-k8s.io"},
            "spec": {"names": {"plural": "workloads"}},
        },
        {
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": "mutating-webhook-configuration"},
            "webhooks": [hook],
        },
    ]

    namespace, secret, definition, webhooks = render_objects(sources, port=9, certificates=certificates)

    assert namespace["metadata"]["name"] == secret["metadata"]["namespace"] == "kueue-system"
    assert definition["spec"]["conversion"]["webhook"]["clientConfig"]["url"] == "https://127.0.0.1:9/convert"
    assert webhooks["metadata"]["name"] == "kueue-mutating-webhook-configuration"
    made = webhooks["webhooks"][0]
    assert made["clientConfig"] == {"url": "https://127.0.0.1:9/mutate--v1-pod", "caBundle": "QQ=="}
    assert "kube-system" in made["namespaceSelector"]["matchExpressions"][0]["values"]


def test_kueue_serves_no_metrics_and_elects_no_leader(directory: KubeDirectory) -> None:
    text = render_configuration(directory, dict.fromkeys(PORTS, 7))

    assert "bindAddress: '0'" in text
    assert "leaderElect: false" in text
    assert "healthProbeBindAddress: 127.0.0.1:7" in text
