"""One real cloud process for the tests of this folder, and boto3 clients that talk to it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.config import Config

REPOSITORY = Path(__file__).resolve().parents[3]
START_SECONDS = 30.0


class RunningCloud:
    """A cloud process and what a test asks it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.process: subprocess.Popen[bytes] | None = None
        self.endpoint = ""
        self._clients: dict[tuple[str, str], Any] = {}

    def start(self) -> float:
        """Start the process, wait until it serves, and return the seconds that took."""
        began = time.monotonic()
        record = self.directory / "cloud.json"
        record.unlink(missing_ok=True)
        environment = {**os.environ, "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'sandbox'}"}
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "gpukit_sandbox.cloud", "--state-dir", str(self.directory)],
                env=environment,
                stdout=log,
                stderr=log,
            )
        while not record.exists():
            if self.process.poll() is not None or time.monotonic() - began > START_SECONDS:
                raise AssertionError((self.directory / "log").read_text())
            time.sleep(0.02)
        self.endpoint = json.loads(record.read_text())["endpoint"]
        self._clients.clear()
        return time.monotonic() - began

    def end(self, sign: int = signal.SIGTERM) -> int:
        """End the process and return its exit code."""
        assert self.process is not None
        self.process.send_signal(sign)
        return self.process.wait(timeout=20)

    def client(self, service: str, region: str = "us-east-1") -> Any:
        """Return a boto3 client that never retries."""
        key = (service, region)
        if key not in self._clients:
            self._clients[key] = boto3.client(
                service,
                region_name=region,
                endpoint_url=self.endpoint,
                aws_access_key_id="AKIAIOSFODNN7EXAMPLE",
                aws_secret_access_key="sandbox",
                config=Config(retries={"total_max_attempts": 1}, read_timeout=30, s3={"addressing_style": "path"}),
            )
        return self._clients[key]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the administrative endpoint."""
        from gpukit_sandbox.cloud.world import ask

        return ask(self.endpoint, method, path, body)


@pytest.fixture(scope="session")
def shared_cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningCloud]:
    """The process that the tests share."""
    cloud = RunningCloud(tmp_path_factory.mktemp("cloud"))
    cloud.start()
    yield cloud
    assert cloud.end() == 0


@pytest.fixture
def cloud(shared_cloud: RunningCloud) -> RunningCloud:
    """An empty cloud without faults."""
    shared_cloud.ask("POST", "/reset")
    shared_cloud.ask("DELETE", "/faults")
    return shared_cloud


@pytest.fixture
def own_cloud(tmp_path: Path) -> Iterator[Callable[[], RunningCloud]]:
    """A maker of clouds that a test may end and start again; they share one directory."""
    made: list[RunningCloud] = []

    def make() -> RunningCloud:
        cloud = RunningCloud(tmp_path)
        made.append(cloud)
        return cloud

    yield make
    for each in made:
        if each.process is not None and each.process.poll() is None:
            each.end()
