"""A real cloud process of the sandbox, an account that asks it, and a record of every action that was asked."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import pytest

from gpukit.plan import Plan
from gpukit.planning import plan_from_input
from gpukit.preflight.account import Account
from gpukit.stackfile import read_text

pytest.importorskip("moto")
pytest.importorskip("boto3")

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 40.0


class Cloud:
    """The endpoint of a running cloud, and its switches."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        from gpukit_sandbox.cloud.world import ask

        return ask(self.endpoint, method, path, body)

    def client(self, service: str) -> Any:
        """Return a client that may change the cloud: what a test builds before it asks."""
        import boto3

        return boto3.client(service, region_name="us-east-1")


class RecordingAccount(Account):
    """An account that remembers what it was asked."""

    clients: ClassVar[dict[str, Any]] = {}
    """Shared by all tests: boto3 takes half a second to make one."""

    def __init__(self) -> None:
        super().__init__("us-east-1")
        self._clients = self.clients
        self.asked: set[str] = set()

    def ask(self, service: str, operation: str, /, **parameters: Any) -> dict[str, Any]:
        self.asked.add(f"{service}:{operation}")
        return super().ask(service, operation, **parameters)


@pytest.fixture(scope="session")
def cloud_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("cloud")
    record = folder / "cloud.json"
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'sandbox'}"}
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpukit_sandbox.cloud", "--state-dir", str(folder)],
            env=environment,
            stdout=log,
            stderr=log,
        )
    began = time.monotonic()
    while not record.exists():
        if process.poll() is not None or time.monotonic() - began > START_SECONDS:
            raise AssertionError((folder / "log").read_text())
        time.sleep(0.05)
    yield str(json.loads(record.read_text())["endpoint"])
    process.send_signal(signal.SIGTERM)
    process.wait(timeout=20)


@pytest.fixture
def cloud(cloud_endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """An empty cloud without faults, which boto3 finds through the environment."""
    for name, value in {
        "AWS_ENDPOINT_URL": cloud_endpoint,
        "AWS_ACCESS_KEY_ID": "sandbox",
        "AWS_SECRET_ACCESS_KEY": "sandbox",
        "AWS_EC2_METADATA_DISABLED": "true",
        "NO_PROXY": "127.0.0.1",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    running = Cloud(cloud_endpoint)
    running.ask("POST", "/reset")
    running.ask("DELETE", "/faults")
    return running


@pytest.fixture
def account(cloud: Cloud) -> RecordingAccount:
    return RecordingAccount()


@pytest.fixture(scope="session")
def plan_text() -> Callable[[str], Plan]:
    def make(text: str) -> Plan:
        result = plan_from_input(read_text(text, file="stack.yaml"), today=date(2026, 12, 1))
        assert result.plan is not None, result.findings
        return result.plan

    return make


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the cloud process as slow: each question is a real request."""
    for item in items:
        if "cloud" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)
