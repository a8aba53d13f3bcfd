"""
Run the Pulumi engine on one stack in a sandbox: preview, up, refresh, destroy, outputs.

The engine's own words go to a stream as they come, without the lines that only tell where the sandbox's plugins lie.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final

from gpukit_sandbox.errors import SandboxError
from gpukit_sandbox.sandbox import Progress, Sandbox

_PLUGIN_NOTICE: Final = re.compile(r"using pulumi-(resource|language)-[\w-]+ from \$PATH at ")
_WARNINGS_ONLY: Final = re.compile(r"^\s+pulumi:pulumi:Stack \S+\s+(running |create )?\d+ warnings?$")
_REMOVAL_HINT: Final = re.compile(
    r"^(The resources in the stack have been deleted, but the history and|If you want to remove the stack completely, run )"
)
_DIAGNOSTICS: Final = re.compile(r"^Diagnostics:$")
_DIAGNOSTIC_HEAD: Final = re.compile(r"^  \S+ \(.*\):$")


class EngineFailed(SandboxError):
    """The engine ended with an error; the message holds its last words."""

    exit_code = 1

    def __init__(self, what: str, status: int, tail: str) -> None:
        """Keep the engine's exit status for callers that pass it on."""
        super().__init__(f"pulumi {what} ended with exit code {status}", why=tail)
        self.status = status
        self.tail = tail


@dataclass(slots=True)
class Engine:
    """The engine on one stack of one project."""

    sandbox: Sandbox
    project: Path
    stack: str
    config: Mapping[str, str] = field(default_factory=dict)
    """Config values for every operation, beside the stack's own file."""
    output: IO[str] | None = None
    """Where the engine's words go; None keeps them for errors only."""
    environment: Mapping[str, str] = field(default_factory=dict)
    progress: Progress | None = None

    def select(self) -> None:
        """Select the stack, creating it when the sandbox does not know it."""
        self.run("stack", "select", "--create", self.stack, quiet=True)

    def preview(self, *arguments: str) -> str:
        """Return the words of a preview."""
        return self.run("preview", "--stack", self.stack, *self._config(), *arguments)

    def preview_json(self, *arguments: str) -> dict[str, Any]:
        """Return the digest of `pulumi preview --json`."""
        text = self.run("preview", "--json", "--stack", self.stack, *self._config(), *arguments, quiet=True)
        digest: dict[str, Any] = json.loads(text[text.index("{") :])
        return digest

    def up(self, *arguments: str) -> str:
        """Bring the stack up and return the engine's words."""
        return self.run("up", "--yes", "--skip-preview", "--stack", self.stack, *self._config(), *arguments)

    def refresh(self, *arguments: str) -> str:
        """Read what stands into the stack's state."""
        return self.run("refresh", "--yes", "--skip-preview", "--stack", self.stack, *arguments)

    def destroy(self, *arguments: str) -> str:
        """Destroy what the stack made."""
        return self.run("destroy", "--yes", "--skip-preview", "--stack", self.stack, *arguments)

    def outputs(self, *, show_secrets: bool = False) -> dict[str, Any]:
        """Return the stack's outputs."""
        extra = ["--show-secrets"] if show_secrets else []
        text = self.run("stack", "output", "--json", "--stack", self.stack, *extra, quiet=True)
        outputs: dict[str, Any] = json.loads(text or "{}")
        return outputs

    def run(self, *arguments: str, quiet: bool = False) -> str:
        """Run one engine command and return what it said on stdout. Raises EngineFailed."""
        process = self.start(*arguments)
        assert process.stdout is not None
        said: list[str] = []
        sink = None if quiet else self.output
        try:
            for line in quieter(process.stdout):
                said.append(line)
                if sink is not None:
                    sink.write(line)
                    sink.flush()
        except KeyboardInterrupt:
            # The engine got the Ctrl-C too and lets running operations finish; its last words are worth waiting for.
            said.extend(process.stdout)
        status = process.wait()
        text = "".join(said)
        if status != 0:
            raise EngineFailed(" ".join(arguments[:2]), status, _tail(text))
        return text

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start one engine command without waiting for it; stdout and stderr come together."""
        environment = {**self.sandbox.environment(progress=self.progress), **self.environment}
        merge = subprocess.STDOUT if "--json" not in arguments else None
        return subprocess.Popen(
            ["pulumi", *arguments, "--non-interactive", "--color", "never"],
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=merge if merge is not None else subprocess.PIPE if self.output is None else sys.stderr,
            text=True,
            encoding="utf-8",
            errors="replace",
        )

    def _config(self) -> Iterator[str]:
        for name, value in sorted(self.config.items()):
            yield from ("--config", f"{name}={value}")


def quieter(lines: Iterable[str]) -> Iterator[str]:
    """
    Yield the engine's lines without those that only tell where the sandbox's plugins lie, or of `pulumi stack rm`.

    An empty Diagnostics section left behind by that goes too; every other warning stays.
    """
    held: list[str] = []
    for line in lines:
        bare = line.rstrip("\r\n")
        if _REMOVAL_HINT.match(bare):
            continue
        if _PLUGIN_NOTICE.search(bare) or _WARNINGS_ONLY.match(bare):
            if (
                not re.match(r"^\s*(warning:|\s*pulumi:pulumi:Stack \S+\s+(running )?warning:)", bare)
                and " create " in bare
            ):
                yield re.sub(r" warning: using pulumi-.*$", "", bare).rstrip() + "\n"
            continue
        if _DIAGNOSTICS.match(bare) or (held and _DIAGNOSTIC_HEAD.match(bare)):
            held.append(line)
            continue
        if held and bare.strip() == "" and len(held) <= 2:
            held.append(line)
            continue
        if held:
            if bare.startswith("    "):
                yield from held
            held = []
        yield line


def _tail(text: str, lines: int = 25) -> str:
    return "\n        ".join([line for line in text.splitlines() if line.strip()][-lines:])
