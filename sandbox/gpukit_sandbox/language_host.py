"""
The Python language host: what the engine asks to run a Python program.

Stands in for the official `pulumi-language-python` where that is not installed. One process per engine run; it prints its port and
answers over gRPC. Programs run in a child process with the project's own interpreter.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent import futures
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import language_pb2, language_pb2_grpc, plugin_pb2

from gpukit_sandbox.program_runner import ALREADY_SHOWN

MESSAGE_BYTES: Final = 400 * 1024 * 1024
"""The engine's own limit for one message."""


class PythonHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs Python programs and component packages for the engine."""

    def __init__(self, engine_address: str) -> None:
        """Remember where the engine listens; a handshake may correct it."""
        self._engine_address = engine_address
        self._children: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self.cancelled = threading.Event()

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Take the engine's address from the request."""
        self._engine_address = request.engine_address or self._engine_address
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the version of the SDK that this host speaks for."""
        from importlib.metadata import version

        return plugin_pb2.PluginInfo(version=version("pulumi"))

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return none: the sandbox puts its plugins on PATH and downloads nothing."""
        return language_pb2.GetRequiredPluginsResponse()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return none, for the same reason."""
        return language_pb2.GetRequiredPackagesResponse()

    def About(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the interpreter for `pulumi about`."""
        return language_pb2.AboutResponse(
            executable=_interpreter(request.info), version=sys.version.split()[0], metadata={"host": "gpukit sandbox"}
        )

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the distributions that the interpreter of this host sees."""
        from importlib.metadata import distributions

        found = {d.metadata["Name"]: d.version for d in distributions()}
        names = sorted(found) if request.transitiveDependencies else sorted(n for n in found if n.startswith("pulumi"))
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[language_pb2.DependencyInfo(name=name, version=found[name]) for name in names]
        )

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Ask nothing."""
        return language_pb2.RuntimeOptionsResponse()

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Install nothing: the environment is made by `make setup` or by the user."""
        yield language_pb2.InstallDependenciesResponse(stdout=b"the sandbox uses the environment as it is\n")

    def Run(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Run a program to its end and tell how it ended."""
        info = request.info
        runner = Path(__file__).resolve().parent / "program_runner.py"
        command = [
            _interpreter(info),
            "-u",
            str(runner),
            f"--monitor={request.monitor_address}",
            f"--engine={self._engine_address}",
            f"--project={request.project}",
            f"--stack={request.stack}",
            f"--organization={request.organization}",
            f"--parallel={request.parallel}",
            f"--dry-run={'true' if request.dryRun else 'false'}",
            f"--program={_program(info)}",
            f"--pwd={request.pwd or info.program_directory}",
            f"--root={info.root_directory}",
            "--",
            *request.args,
        ]
        environment = {
            **os.environ,
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        status = self._run(command, request.pwd or info.program_directory, environment)
        if status == 0:
            return language_pb2.RunResponse()
        if status in (ALREADY_SHOWN, 130, -signal.SIGINT, -signal.SIGTERM):
            return language_pb2.RunResponse(bail=True)
        return language_pb2.RunResponse(error=f"the program ended with exit code {status}")

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:  # noqa: N802
        """Run a package of components and pass its output on, line by line."""
        info = request.info
        environment = {**os.environ, **dict(pair.split("=", 1) for pair in request.env if "=" in pair)}
        command = [_interpreter(info), "-u", _program(info), *request.args]
        process = subprocess.Popen(
            command,
            cwd=request.pwd or info.program_directory,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        context.add_callback(process.terminate)
        lines: list[Any] = []
        changed = threading.Condition()

        def pump(stream: Any, field: str) -> None:
            for line in stream:
                with changed:
                    lines.append(language_pb2.RunPluginResponse(**{field: line}))
                    changed.notify()
            with changed:
                lines.append(None)
                changed.notify()

        for stream, field in ((process.stdout, "stdout"), (process.stderr, "stderr")):
            threading.Thread(target=pump, args=(stream, field), daemon=True).start()
        open_streams = 2
        while open_streams:
            with changed:
                changed.wait_for(lambda: bool(lines))
                line = lines.pop(0)
            if line is None:
                open_streams -= 1
            else:
                yield line
        yield language_pb2.RunPluginResponse(exitcode=process.wait())

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        """End what runs and then this process: the engine waits five seconds for one that stays."""
        self.end_children()
        self.cancelled.set()
        return empty_pb2.Empty()

    def end_children(self) -> None:
        """End the programs that this host started."""
        with self._lock:
            for child in self._children:
                child.terminate()

    def _run(self, command: list[str], cwd: str, environment: dict[str, str]) -> int:
        with self._lock:
            process = subprocess.Popen(command, cwd=cwd, env=environment)
            self._children.add(process)
        try:
            return process.wait()
        finally:
            with self._lock:
                self._children.discard(process)


def main() -> None:
    """Serve until the engine ends this process."""
    addresses = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    # Ctrl-C belongs to the engine: it lets running operations finish and then ends this process itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    host = PythonHost(addresses[-1] if addresses else "")
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=16),
        options=[("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(host, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()

    def end(*_: Any) -> None:
        host.end_children()
        os._exit(0)

    signal.signal(signal.SIGTERM, end)
    print(port, flush=True)
    host.cancelled.wait()
    server.stop(grace=2).wait()


def _interpreter(info: Any) -> str:
    """Return the project's own interpreter: its `virtualenv` option, else the one that runs this host."""
    name = json_format.MessageToDict(info.options).get("virtualenv", "")
    if isinstance(name, str) and name:
        for folder in ("bin", "Scripts"):
            candidate = Path(info.root_directory) / name / folder / "python"
            if candidate.exists():
                return str(candidate)
    return sys.executable


def _program(info: Any) -> str:
    entry = info.entry_point or "."
    return info.program_directory if entry == "." else str(Path(info.program_directory) / entry)


if __name__ == "__main__":
    main()
