"""Where a control plane keeps its things inside a sandbox's directory, and which ports it has."""

import secrets
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from gpukit_sandbox import processes
from gpukit_sandbox.state import read_json, write_json

PORTS: Final = ("etcd", "etcd-peer", "apiserver", "kueue-webhook", "kueue-health", "authenticator")
SERVICE_RANGE: Final = "10.100.0.0/16"
"""EKS's own default for a VPC in 10.0.0.0/8. Source: EKS User Guide, "serviceIpv4Cidr", 2026-08."""
SERVICE_IP: Final = "10.100.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeDirectory:
    """The paths of one control plane; making the value touches no disk."""

    root: Path
    logs: Path

    @property
    def certificates(self) -> Path:
        """Authority, server certificate, service-account keys."""
        return self.root / "pki"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig: what people and the control plane's own parts use."""
        return self.root / "kubeconfig"

    @property
    def etcd(self) -> Path:
        """etcd's data."""
        return self.root / "etcd"

    @property
    def tokens(self) -> Path:
        """The static token of the administrator."""
        return self.root / "tokens.csv"

    @property
    def authenticator_config(self) -> Path:
        """Where the API server learns who checks other tokens."""
        return self.root / "authenticator.kubeconfig"

    @property
    def stages(self) -> Path:
        """What KWOK does with nodes and pods."""
        return self.root / "stages.yaml"

    @property
    def kueue_config(self) -> Path:
        """Kueue's configuration."""
        return self.root / "kueue.yaml"

    @property
    def kueue_certificates(self) -> Path:
        """The certificate of Kueue's webhooks, by the names that Kueue looks for."""
        return self.root / "kueue-pki"

    def log(self, part: str) -> Path:
        """Return the log file of a part."""
        return self.logs / f"{part}.log"


def choose_ports(directory: KubeDirectory) -> dict[str, int]:
    """
    Return a free port for each part: those of the last start where they are still free.

    The same address after a restart keeps kubeconfigs and stacks valid.
    """
    file = directory.root / "ports.json"
    kept = read_json(file)
    chosen: dict[str, int] = {}
    for name in PORTS:
        before = kept.get(name)
        usable = isinstance(before, int) and before not in chosen.values() and _is_free(before)
        port = before if usable else processes.free_port()
        while port in chosen.values():
            port = processes.free_port()
        chosen[name] = port
    write_json(file, chosen)
    return chosen


def admin_token(directory: KubeDirectory) -> str:
    """Return the administrator's token, made once; it opens this sandbox and nothing else."""
    if directory.tokens.is_file():
        return directory.tokens.read_text(encoding="utf-8").split(",", 1)[0]
    token = secrets.token_urlsafe(32)
    directory.tokens.touch(mode=0o600)
    directory.tokens.write_text(f'{token},gpukit-admin,gpukit-admin,"system:masters"\n', encoding="utf-8")
    return token


def write_kubeconfig(path: Path, *, server: str, certificate_authority: Path, user: dict[str, Any], name: str) -> None:
    """Write a kubeconfig with one cluster, one user and one context of the same name."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {"name": name, "cluster": {"server": server, "certificate-authority": str(certificate_authority)}}
        ],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def _is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
