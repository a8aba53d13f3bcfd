"""
Start and end a control plane: etcd, API server, controllers, scheduler, KWOK, Kueue, and our own two helpers.

    plane = ControlPlane("default", directory, cloud=folder_of_the_double)
    plane.start(print, parts.append)
    KubeApi.from_kubeconfig(plane.directory.kubeconfig)
    processes.end_parts(parts)          # in reverse: an API server whose etcd went first lingers on its port for minutes
"""

import base64
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox import processes, tools
from gpukit_sandbox.errors import PartFailed, SandboxError
from gpukit_sandbox.kube import certificates, commands, kueue
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.commands import PartCommand
from gpukit_sandbox.kube.connection import write_connection
from gpukit_sandbox.kube.layout import SERVICE_IP, KubeDirectory, admin_token, choose_ports, write_kubeconfig
from gpukit_sandbox.kube.stages import render_stages
from gpukit_sandbox.processes import Part

Progress = Callable[[str], None]
TOOLS: Final = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "kueue")
READY_SECONDS: Final = 90.0
"""Far above what it takes (10 to 15 s on two cores): a machine under load is slow, not broken."""
_POLL_SECONDS: Final = 0.1


class ControlPlane:
    """One control plane in one directory."""

    def __init__(self, name: str, directory: KubeDirectory, *, cloud: Path | None = None) -> None:
        """Bind names and paths; start nothing. `cloud` is the directory of the AWS double whose EKS cluster this is."""
        self.name = name
        self.directory = directory
        self.cloud = cloud
        self.parts: list[Part] = []

    @property
    def api(self) -> KubeApi:
        """Return a client as administrator."""
        return KubeApi.from_kubeconfig(self.directory.kubeconfig)

    def start(self, say: Progress, record: Callable[[Part], None]) -> None:
        """
        Start every part and return when jobs can be queued; `record` hears of each part at once, so that none can be lost.

        Raises MissingTool or PartFailed; then everything that this call started has been ended.
        """
        binaries = {tool: str(tools.find_tool(tool, say)) for tool in TOOLS}
        self.directory.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        ports = choose_ports(self.directory)
        webhook_certificates = self._write_files(ports)

        def begin(command: PartCommand) -> Part:
            part = self._start_part(command, binaries.get(command.tool, command.tool))
            record(part)
            return part

        started = time.monotonic()
        say("starting a Kubernetes control plane: etcd, API server, scheduler, controllers, KWOK, Kueue")
        try:
            begin(commands.etcd_command(self.directory, ports))
            # It refuses to start without etcd's answer, and gives up after a minute: no need to wait in between.
            begin(commands.apiserver_command(self.directory, ports))
            begin(self._helper("authenticator", "gpukit_sandbox.kube.authenticator", ports))
            self.wait_until(lambda: self.api.ready(), what="the API server")
            for command in (
                commands.controller_manager_command(self.directory),
                commands.scheduler_command(self.directory),
                commands.kwok_command(self.directory),
            ):
                begin(command)
            self._apply(
                kueue.render_objects(
                    kueue.read_sources(), port=ports["kueue-webhook"], certificates=webhook_certificates
                )
            )
            begin(commands.kueue_command(self.directory))
            if self.cloud is not None:
                begin(self._helper("node-joiner", "gpukit_sandbox.kube.node_joiner", ports))
            self.wait_until(self._queues_answer, what="Kueue")
            version = self.api.version()
        except BaseException:
            processes.end_parts(self.parts)
            self.parts.clear()
            raise
        if self.cloud is not None:
            authority = base64.b64encode((self.directory.certificates / "ca.crt").read_bytes()).decode()
            write_connection(
                self.cloud,
                endpoint=f"https://127.0.0.1:{ports['apiserver']}",
                certificate_authority=authority,
                version=version,
            )
        say(f"Kubernetes {version} is ready after {time.monotonic() - started:.1f} s")

    def wait_until(self, ready: Callable[[], bool], *, what: str, timeout_seconds: float = READY_SECONDS) -> None:
        """Wait until something holds, while every part runs. Raises PartFailed that names the part which ended, or what was awaited."""
        deadline = time.monotonic() + timeout_seconds
        while not ready():
            require_running(self.parts)
            if time.monotonic() > deadline:
                tails = "\n        ".join(f"[{part.name}] {processes.log_tail(part, 3)}" for part in self.parts)
                raise PartFailed(
                    f"{what} is not ready after {timeout_seconds:.0f} s",
                    why=tails,
                    fix=f"the logs are in {self.directory.logs}",
                )
            time.sleep(_POLL_SECONDS)

    # Steps

    def _write_files(self, ports: Mapping[str, int]) -> dict[str, bytes]:
        directory = self.directory
        certificates.make_certificates(directory.certificates, service_ip=SERVICE_IP)
        authority = directory.certificates / "ca.crt"
        write_kubeconfig(
            directory.kubeconfig,
            server=f"https://127.0.0.1:{ports['apiserver']}",
            certificate_authority=authority,
            user={"token": admin_token(directory)},
            name=f"gpukit-{self.name}",
        )
        write_kubeconfig(
            directory.authenticator_config,
            server=f"https://127.0.0.1:{ports['authenticator']}/authenticate",
            certificate_authority=authority,
            user={},
            name="authenticator",
        )
        directory.stages.write_text(render_stages(), encoding="utf-8")
        directory.kueue_config.write_text(kueue.render_configuration(directory, ports), encoding="utf-8")
        return certificates.make_webhook_certificates(
            directory.kueue_certificates, authority_name=kueue.AUTHORITY_NAME, dns_name=kueue.DNS_NAME
        )

    def _helper(self, name: str, module: str, ports: Mapping[str, int]) -> PartCommand:
        arguments: list[str | Path] = ["--directory", self.directory.root, "--port", str(ports["authenticator"])]
        if self.cloud is not None:
            arguments += ["--cloud", self.cloud]
        if name == "node-joiner":
            arguments = ["--directory", self.directory.root, "--cloud", str(self.cloud)]
        return commands.python_command(name, sys.executable, module, *arguments)

    def _start_part(self, command: PartCommand, binary: str) -> Part:
        log = self.directory.log(command.name)
        log.unlink(missing_ok=True)
        part = processes.start_part(
            command.name, [binary, *command.arguments], log=log, environment=_environment(), cwd=self.directory.root
        )
        self.parts.append(part)
        return part

    def _apply(self, objects: Sequence[Mapping[str, Any]]) -> None:
        """Apply the namespace first, then the rest side by side."""
        api = self.api
        api.apply(objects[0])
        with ThreadPoolExecutor(max_workers=4) as pool:
            list(pool.map(api.apply, objects[1:]))

    def _queues_answer(self) -> bool:
        """Kueue's webhook judges a dry run: with that, and not before, queues and jobs are accepted."""
        try:
            self.api.create(
                {
                    "apiVersion": "kueue.x-k8s.io/v1beta2",
                    "kind": "ClusterQueue",
                    "metadata": {"generateName": "ready-"},
                    "spec": {},
                },
                dry_run=True,
            )
        except SandboxError:
            return False
        return True


def require_running(parts: Sequence[Part]) -> None:
    """Raise PartFailed for the first part, in the order of starting, that has ended, with the last lines of its log."""
    for part in parts:
        if not processes.is_running(part):
            raise PartFailed(
                f"{part.name} ended by itself", why=processes.log_tail(part), fix=f"the whole log is {part.log}"
            )


def _environment() -> dict[str, str]:
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "PYTHONPATH", "XDG_CACHE_HOME")
    source_root = str(Path(__file__).resolve().parents[2])
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PYTHONPATH": os.pathsep.join(filter(None, [source_root, os.environ.get("PYTHONPATH", "")])),
        "PYTHONUNBUFFERED": "1",
        # Everything is on this machine: no proxy of the user's may come between the parts.
        "NO_PROXY": "127.0.0.1,localhost",
        "AWS_EC2_METADATA_DISABLED": "true",
        # Three Go servers on two cores: keep their garbage collection from eating the memory that the nodes need.
        "GOGC": "75",
    }
