"""
Kubernetes beside a sandbox's cloud: the sandbox's own control plane, or a cluster that the user has already.

The choice is remembered in the sandbox's record, so that a restart brings the same.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox import processes
from gpukit_sandbox.errors import PartFailed, SandboxError
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.connection import forget_connection, read_connection
from gpukit_sandbox.kube.layout import KubeDirectory
from gpukit_sandbox.processes import Part
from gpukit_sandbox.state import StateDirectory

Progress = Callable[[str], None]

PARTS: Final = (
    "etcd",
    "kube-apiserver",
    "authenticator",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "kueue",
    "node-joiner",
)
OLDEST_MINOR: Final = 30
"""The oldest Kubernetes that gpukit's objects work on: 1.30."""


def kube_directory(state: StateDirectory) -> KubeDirectory:
    """Return where a sandbox's control plane lies."""
    return KubeDirectory(root=state.root / "kubernetes", logs=state.logs)


def start(state: StateDirectory, say: Progress) -> None:
    """
    Start the control plane, unless it runs already, and tell the cloud about it.

    A part that has ended since the last start is named; then all of them are started anew. Raises MissingTool or PartFailed.
    """
    from gpukit_sandbox.kube.control_plane import ControlPlane

    parts = _parts(state)
    fallen = [part for part in parts if not processes.is_running(part)]
    if parts and not fallen:
        return
    for part in fallen:
        say(
            f"{part.name} had ended by itself: starting the control plane again; its last lines:\n        {processes.log_tail(part)}"
        )
    end(state)

    def record(part: Part) -> None:
        document = state.read()
        document["parts"] = [*document.get("parts", []), part.to_json()]
        state.write(document)

    plane = ControlPlane(state.name, kube_directory(state), cloud=state.cloud)
    try:
        plane.start(say, record)
    except BaseException:
        end(state)
        raise
    announce(state)


def end(state: StateDirectory) -> None:
    """End the control plane's parts in reverse order; does nothing when there are none."""
    processes.end_parts(_parts(state))
    document = state.read()
    document["parts"] = [record for record in document.get("parts", []) if record["name"] not in PARTS]
    state.write(document)
    if read_connection(state.cloud):
        announce(state, gone=True)
        forget_connection(state.cloud)


def announce(state: StateDirectory, *, gone: bool = False) -> None:
    """Let the EKS clusters of the cloud answer at the control plane, or no longer."""
    from gpukit_sandbox.cloud import world
    from gpukit_sandbox.state import read_json

    endpoint = str(read_json(state.cloud / "cloud.json").get("endpoint", ""))
    if not endpoint:
        return
    connection = {} if gone else read_connection(state.cloud)
    body = {
        "name": "*",
        "region": "*",
        "endpoint": connection.get("endpoint"),
        "certificate_authority": connection.get("certificate_authority"),
    }
    try:
        world.ask(endpoint, "POST", "/clusters", body)
    except (OSError, ValueError) as problem:
        if not gone:
            raise PartFailed("the AWS double does not take the control plane's address", why=str(problem)) from problem


def require_usable(kubeconfig: Path) -> dict[str, Any]:
    """Return server and version of a user's own cluster. Raises when it does not answer or is older than 1.30."""
    api = KubeApi.from_kubeconfig(kubeconfig)
    found = api.request("GET", "/version")
    minor = int("".join(filter(str.isdigit, str(found.get("minor", "0")))) or 0)
    if minor < OLDEST_MINOR:
        raise SandboxError(
            f"the cluster at {api.server} is Kubernetes {found.get('gitVersion')}",
            why=f"gpukit's queues need 1.{OLDEST_MINOR} or newer",
            fix="state the kubeconfig of a newer cluster, or use `--with-kubernetes`",
        )
    return {"server": api.server, "version": str(found.get("gitVersion", ""))}


def _parts(state: StateDirectory) -> list[Part]:
    return [part for part in map(processes.part_from_json, state.read().get("parts", [])) if part.name in PARTS]
