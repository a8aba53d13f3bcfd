"""Record stacks in processes of their own: the core never loads Pulumi, and two revisions never share a process."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from gpukit.finding import Severity
from gpukit.preview.recording import Recording, parse_recording
from gpukit.report.redaction import redact_text

TIMEOUT_SECONDS: Final = 300
EXIT_NO_PULUMI: Final = 3
_SECRET_VARIABLES: Final = ("AWS_", "PULUMI_", "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN", "KUBECONFIG")
"""Starts of variables that a program needs only to reach a cloud; a recording must not be able to."""

_FINDING: Final = re.compile(rf"GK\d{{4}} ({'|'.join(Severity)})\b")
"""How a finding begins in a program's log."""


class RecorderMissing(Exception):
    """The components or the Pulumi SDK are not installed; for people."""


class ProgramFailed(Exception):
    """The recorded program stopped with an error; its own words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRequest:
    """One run. `program` None runs gpukit's own `deploy()`; `source_roots` go before what is installed."""

    project: str
    stack: str
    config: dict[str, str]
    secret_keys: tuple[str, ...] = ()
    program: Path | None = None
    root: Path | None = None
    python: Path | None = None
    source_roots: tuple[Path, ...] = field(default=())


def record_all(requests: Sequence[RecordRequest]) -> list[Recording]:
    """Return the recordings of all requests, run side by side; raises RecorderMissing or ProgramFailed."""
    running = [(request, _start(request)) for request in requests]
    recordings: list[Recording] = []
    failed: list[Exception] = []
    for request, process in running:
        try:
            recordings.append(_finish(request, process))
        except (RecorderMissing, ProgramFailed) as error:
            failed.append(error)
    if failed:
        raise failed[0]
    return recordings


def recorder_file() -> Path:
    """Return the recorder's script, found without importing the package it lies in."""
    spec = find_spec("gpukit_components")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        if (Path(folder) / "recorder.py").is_file():
            return Path(folder) / "recorder.py"
    raise RecorderMissing("gpukit's components are not installed here: pip install 'gpukit[pulumi]'")


def _start(request: RecordRequest) -> "subprocess.Popen[str]":
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_SECRET_VARIABLES)}
    paths = [str(path) for path in request.source_roots]
    environment["PYTHONPATH"] = os.pathsep.join([*paths, *filter(None, [os.environ.get("PYTHONPATH", "")])])
    environment["PYTHONDONTWRITEBYTECODE"] = "1" if request.source_roots else ""
    # A program that does ask a cloud gets no answer from a real one.
    environment |= {"AWS_EC2_METADATA_DISABLED": "true", "AWS_REGION": request.config.get("aws:region", "us-east-1")}
    process = subprocess.Popen(
        [str(request.python or sys.executable), str(recorder_file())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=request.root or Path.cwd(),
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps(_message(request)))
    process.stdin.close()
    process.stdin = None
    return process


def _message(request: RecordRequest) -> dict[str, Any]:
    return {
        "project": request.project,
        "stack": request.stack,
        "config": request.config,
        "secret_keys": list(request.secret_keys),
        "program": str(request.program) if request.program else None,
        "root": str(request.root) if request.root else None,
    }


def _finish(request: RecordRequest, process: "subprocess.Popen[str]") -> Recording:
    try:
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise ProgramFailed(f"recording `{request.stack}` took more than {TIMEOUT_SECONDS} s") from None
    said = worst_first(redact_text(err.strip()))
    if process.returncode == EXIT_NO_PULUMI:
        raise RecorderMissing(said)
    if process.returncode != 0:
        raise ProgramFailed(said or f"recording `{request.stack}` ended with {process.returncode}")
    return parse_recording(out, where=f"the recording of `{request.stack}`")


def worst_first(said: str) -> str:
    """Return a program's words with its own error first, then the findings by level: error, warning, unknown."""
    blocks: list[list[str]] = []
    for line in said.splitlines():
        if blocks and (line.startswith((" ", "\t")) or not line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return "\n".join("\n".join(block) for block in sorted(blocks, key=_rank))


def _rank(block: list[str]) -> int:
    level = _FINDING.match(block[0])
    return 0 if level is None else 1 + list(Severity).index(Severity(level[1]))
