"""
One sandbox: the AWS double's server, a Kubernetes control plane where wanted, the engine's own state and the executables, together.

    box = Sandbox("default")
    box.up(print)
    box.run(["pulumi", "preview"])
    box.down(purge=True)
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from gpukit_sandbox import processes, tools
from gpukit_sandbox.errors import MissingTool, PartFailed, SandboxError
from gpukit_sandbox.executables import write_executables
from gpukit_sandbox.processes import Part
from gpukit_sandbox.salt import find_stack_files, read_unsalted, take_salt_away
from gpukit_sandbox.state import (
    DEFAULT_NAME,
    StateDirectory,
    made_in_cloud,
    read_json,
    stack_resources,
    state_directory,
    write_json,
)

Progress = Callable[[str], None]

CLOUD_MODULE: Final = "gpukit_sandbox.cloud"
KUBERNETES_PROVIDER: Final = "pulumi-resource-kubernetes"
CLOUD_READY_SECONDS: Final = 60.0
PASSPHRASE: Final = "gpukit-sandbox"
"""Encrypts the sandbox's own stacks; it guards nothing, and a real stack never sees it."""
FALLBACK_REGION: Final = "us-east-1"
"""Where nothing stands yet and the user's shell names no region: boto3 refuses to work without one."""
ACCESS_KEY: Final = "sandbox"
"""Not a key of any account: the double asks for some words here and ignores them."""


class Sandbox:
    """A named sandbox. Two names share nothing but the tool cache."""

    def __init__(self, name: str = DEFAULT_NAME) -> None:
        """Bind the name; start nothing. Raises UnknownName for a name that cannot be a directory."""
        self.name = name
        self.directory: StateDirectory = state_directory(name)

    # Life

    def up(
        self, progress: Progress | None = None, *, with_kubernetes: bool | None = None, kubeconfig: Path | None = None
    ) -> dict[str, Any]:
        """
        Start what does not run yet and return the status.

        Finds or builds the engine, writes the executables, starts the AWS double; with Kubernetes a control plane beside it, or a
        kubeconfig of a cluster that is there already. None keeps what the sandbox had. Raises MissingTool or PartFailed.
        """
        say = progress or _silent
        _require_packages()
        if kubeconfig is not None:
            self._choose_cluster(kubeconfig, say)
        tools.find_tool("pulumi", say)
        if kubeconfig is not None or with_kubernetes:
            tools.find_tool(KUBERNETES_PROVIDER, say)
        with self.directory.locked():
            self.directory.make()
            write_executables(self.directory.bin)
            self._start_cloud(say)
            self._start_kubernetes(say, with_kubernetes)
        return self.status()

    def status(self) -> dict[str, Any]:
        """Return name, whether it runs, endpoint, parts and the stacks that the engine knows; starts nothing."""
        parts = self._parts()
        running = {part.name: processes.is_running(part) for part in parts}
        cloud = read_json(self.directory.cloud / "cloud.json") if running.get("cloud") else {}
        resources = self._count_resources()
        return {
            "name": self.name,
            "running": bool(parts) and all(running.values()),
            "directory": str(self.directory.root),
            "endpoint": cloud.get("endpoint", ""),
            "kubeconfig": self._kubeconfig(),
            "engine": str(tools.installed_tool("pulumi") or ""),
            "parts": [
                {
                    "name": p.name,
                    "pid": p.pid,
                    "running": running[p.name],
                    "log": p.log,
                    **({} if running[p.name] else {"last_lines": processes.log_tail(p)}),
                }
                for p in parts
            ],
            "stacks": sorted(resources),
            "resources": resources,
            "world": _ask(f"{cloud['endpoint']}/_gpukit/world") if cloud.get("endpoint") else {},
        }

    def down(self, purge: bool = False) -> None:
        """End what this sandbox started, in reverse order; with `purge`, remove its directory too. Safe to repeat."""
        if not self.directory.root.exists():
            return
        with self.directory.locked():
            self._end_kubernetes()
            processes.end_parts(self._parts())
            state = self.directory.read()
            state["parts"] = []
            if not purge:
                self.directory.write(state)
            (self.directory.cloud / "cloud.json").unlink(missing_ok=True)
        if purge:
            shutil.rmtree(self.directory.root, ignore_errors=True)

    # Work

    def run(self, argv: Sequence[str], *, cwd: Path | None = None, progress: Progress | None = None) -> int:
        """
        Run a command in the sandbox's environment and return its exit code; starts the sandbox when it does not run.

        Raises MissingTool when the command does not exist.
        """
        environment = self.environment(progress=progress)
        command = list(argv)
        found = shutil.which(command[0], path=environment["PATH"]) if command else None
        if found is None:
            raise MissingTool(
                f"{command[0] if command else 'no command'} is not on the sandbox's PATH",
                fix="state a command after `--`",
            )
        # The child shares the terminal and gets Ctrl-C itself; this process must outlive it to return its code.
        unsalted = read_unsalted(find_stack_files(command, cwd))
        process = subprocess.Popen([found, *command[1:]], env=environment, cwd=cwd)
        try:
            while True:
                try:
                    return process.wait()
                except KeyboardInterrupt:
                    continue
        finally:
            take_salt_away(unsalted, progress or _silent)

    def environment(self, *, progress: Progress | None = None) -> dict[str, str]:
        """Return the whole environment of a sandbox command; starts the sandbox when it does not run."""
        if not self.status()["running"]:
            self.up(progress)
        self.drop_stale_locks()
        return {**self._inherited(), **self.variables()}

    def drop_stale_locks(self) -> list[str]:
        """
        Remove the locks of engines that were killed, and return their stacks.

        The engine locks a stack by a file with its process id. A lock whose process is no engine any more guards nothing:
        it is what `pulumi cancel` would remove.
        """
        dropped = []
        for path in sorted((self.directory.stacks / ".pulumi" / "locks").rglob("*.json")):
            pid = read_json(path).get("pid")
            if isinstance(pid, int) and not _is_engine(pid):
                path.unlink(missing_ok=True)
                dropped.append(path.parent.name)
        return dropped

    def variables(self) -> dict[str, str]:
        """Return what the sandbox sets, without what is inherited. Raises PartFailed when the sandbox does not run."""
        status = self.status()
        if not status["running"]:
            raise PartFailed(f"the sandbox {self.name!r} does not run", fix="start it with `gpukit sandbox up`")
        engine = tools.find_tool("pulumi")
        kubernetes = tools.installed_tool(KUBERNETES_PROVIDER) if status["kubeconfig"] else None
        path = [
            str(self.directory.bin),
            str(engine.parent),
            str(kubernetes.parent) if kubernetes is not None else "",
            str(Path(sys.executable).parent),
            os.environ.get("PATH", ""),
        ]
        return {
            "PATH": os.pathsep.join(
                dict.fromkeys(folder for entry in path for folder in entry.split(os.pathsep) if folder)
            ),
            "PULUMI_BACKEND_URL": f"file://{self.directory.stacks}",
            "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
            "PULUMI_HOME": str(tools.cache_directory() / "pulumi-home"),
            "PULUMI_SKIP_UPDATE_CHECK": "1",
            "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
            "PULUMI_SKIP_CONFIRMATIONS": "true",
            "AWS_ENDPOINT_URL": status["endpoint"],
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": ACCESS_KEY,
            **dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), _region(status["world"])),
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            **({"KUBECONFIG": status["kubeconfig"]} if status["kubeconfig"] else {}),
            "GPUKIT_SANDBOX": self.name,
            "GPUKIT_SANDBOX_CREATIONS": str(self.directory.creations),
        }

    # Parts

    def _inherited(self) -> dict[str, str]:
        """A profile, a session token or a service's own endpoint in the user's shell must not reach the sandbox."""
        return {
            k: v for k, v in os.environ.items() if not k.startswith("AWS_") or k in ("AWS_REGION", "AWS_DEFAULT_REGION")
        }

    def _parts(self) -> list[Part]:
        return [processes.part_from_json(record) for record in self.directory.read().get("parts", [])]

    def _start_cloud(self, say: Progress) -> None:
        standing = [part for part in self._parts() if part.name == "cloud" and processes.is_running(part)]
        ready_file = self.directory.cloud / "cloud.json"
        if standing and read_json(ready_file).get("endpoint"):
            return
        processes.end_parts(self._parts())
        ready_file.unlink(missing_ok=True)
        log = self.directory.logs / "cloud.log"
        log.unlink(missing_ok=True)
        environment = {
            **self._inherited(),
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": ACCESS_KEY,
            "PYTHONUNBUFFERED": "1",
        }
        command = _cloud_command(self.directory.cloud)
        say("starting the AWS double")
        part = processes.start_part("cloud", command, log=log, environment=environment)
        self.directory.write({**self.directory.read(), "name": self.name, "parts": [part.to_json()]})
        try:
            processes.wait_until_ready(part, lambda: _answers(ready_file), timeout_seconds=CLOUD_READY_SECONDS)
        except SandboxError:
            processes.end_part(part)
            raise

    def _choose_cluster(self, kubeconfig: Path, say: Progress) -> None:
        from gpukit_sandbox.kube import beside

        found = beside.require_usable(kubeconfig)
        say(f"using the cluster at {found['server']}, Kubernetes {found['version']}")
        with self.directory.locked():
            self.directory.write(
                {**self.directory.read(), "kubernetes": {"own": False, "kubeconfig": str(kubeconfig.resolve())}}
            )

    def _start_kubernetes(self, say: Progress, wanted: bool | None) -> None:
        from gpukit_sandbox.kube import beside

        state = self.directory.read()
        if wanted is not None:
            own = beside.kube_directory(self.directory).kubeconfig
            self.directory.write({**state, "kubernetes": {"own": True, "kubeconfig": str(own)} if wanted else {}})
        if self.directory.read().get("kubernetes", {}).get("own"):
            beside.start(self.directory, say)
        else:
            self._end_kubernetes()

    def _end_kubernetes(self) -> None:
        if any(part.name != "cloud" for part in self._parts()):
            from gpukit_sandbox.kube import beside

            beside.end(self.directory)

    def _kubeconfig(self) -> str:
        """Return the kubeconfig that goes with this sandbox, or nothing."""
        return str(self.directory.read().get("kubernetes", {}).get("kubeconfig", ""))

    def _count_resources(self) -> dict[str, int]:
        """Return how many resources of each stack stand in a cloud."""
        files = sorted((self.directory.stacks / ".pulumi" / "stacks").glob("*/*.json"))
        return {f"{file.parent.name}/{file.stem}": len(made_in_cloud(stack_resources(file))) for file in files}


def _region(world: dict[str, Any]) -> str:
    """Return the region of the user's shell; else the only one where something stands; else the fallback."""
    stated = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    standing = [region for region, kinds in world.items() if region != "global" and kinds]
    return stated or (standing[0] if len(standing) == 1 else FALLBACK_REGION)


def _cloud_command(folder: Path) -> list[str]:
    if (
        importlib.util.find_spec(CLOUD_MODULE) is not None
        and importlib.util.find_spec(f"{CLOUD_MODULE}.__main__") is not None
    ):
        return [sys.executable, "-m", CLOUD_MODULE, "--state-dir", str(folder)]
    port = processes.free_port()
    write_json(folder / "cloud.json", {"endpoint": f"http://127.0.0.1:{port}"})
    return [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]


def _is_engine(pid: int) -> bool:
    if not Path("/proc/self").exists():
        # Without /proc a recycled id looks like an engine: the lock stays, and the engine tells how to remove it.
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            pass
        return True
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False
    return b"pulumi" in command.split(b"\0")[0]


def _ask(url: str) -> dict[str, Any]:
    """Return a mapping that the double's own endpoint tells; empty when it does not answer, so that `status` always shows the rest."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            found = json.loads(answer.read())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _answers(ready_file: Path) -> bool:
    endpoint = str(read_json(ready_file).get("endpoint", ""))
    port = urlsplit(endpoint).port
    return port is not None and processes.accepts_connections(port)


def _require_packages() -> None:
    for package in ("pulumi", "boto3", "moto"):
        if importlib.util.find_spec(package) is None:
            raise MissingTool(
                f"the Python package {package} is missing",
                why="the sandbox runs the engine against a double of AWS made with moto and boto3",
                fix="install gpukit with its extra: pip install 'gpukit[sandbox]'",
            )


def _silent(line: str) -> None:
    pass
