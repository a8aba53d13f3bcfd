"""The provider double against a real server of the sandbox, without an engine."""

import os
import sys
from collections.abc import Iterator

import pytest
from gpukit_sandbox import processes
from gpukit_sandbox.state import read_json

from tests.sandbox.engine.as_engine import Double


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The endpoint of a server of the sandbox's cloud."""
    folder = tmp_path_factory.mktemp("cloud")
    part = processes.start_part(
        "cloud",
        [sys.executable, "-m", "gpukit_sandbox.cloud", "--state-dir", str(folder)],
        log=folder / "log",
        environment=os.environ,
    )
    try:
        processes.wait_until_ready(
            part, lambda: bool(read_json(folder / "cloud.json").get("endpoint")), timeout_seconds=60
        )
        yield str(read_json(folder / "cloud.json")["endpoint"])
    finally:
        processes.end_part(part)


@pytest.fixture(scope="session")
def double(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Double]:
    """The provider, configured for that server."""
    patch = pytest.MonkeyPatch()
    patch.setenv("AWS_ENDPOINT_URL", endpoint)
    patch.setenv("GPUKIT_SANDBOX_CREATIONS", str(tmp_path_factory.mktemp("creations")))
    yield Double()
    patch.undo()
