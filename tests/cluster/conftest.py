"""One control plane for the whole suite: started once, ended at the end, in a directory that goes with it."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.sandbox import Sandbox

from tests.cluster.support import KUEUE, wait_for


@pytest.fixture(scope="session")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox with a control plane; its state lies in the test's own directory, its tools in the user's cache."""
    state = tmp_path_factory.mktemp("state")
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(state)
    made = Sandbox("cluster-tests")
    try:
        made.up(with_kubernetes=True)
        yield made
    finally:
        made.down(purge=True)
        if before is None:
            os.environ.pop("XDG_STATE_HOME")
        else:
            os.environ["XDG_STATE_HOME"] = before


@pytest.fixture(scope="session")
def api(box: Sandbox) -> KubeApi:
    """The administrator's client."""
    return KubeApi.from_kubeconfig(Path(box.status()["kubeconfig"]))


@pytest.fixture(scope="session")
def aws(box: Sandbox) -> Any:
    """Return boto3 clients of the cloud double by service name."""
    import boto3

    endpoint = box.status()["endpoint"]

    def client(service: str) -> Any:
        return boto3.client(
            service,
            region_name="us-east-1",
            endpoint_url=endpoint,
            aws_access_key_id="sandbox",
            aws_secret_access_key="sandbox",
        )

    return client


@pytest.fixture
def empty(api: KubeApi) -> Iterator[None]:
    """Take away, after a test, the nodes, queues and jobs that it made; a queue goes once no workload uses it."""
    yield
    clear(api, "batch/v1", "Job")
    clear(api, "v1", "Pod")
    for kind in ("Workload", "LocalQueue", "ClusterQueue", "ResourceFlavor", "Topology"):
        clear(api, KUEUE, kind)
    clear(api, "v1", "Node")


def clear(api: KubeApi, api_version: str, kind: str) -> None:
    """Delete every object of a kind and wait until they have gone."""
    for item in api.list(api_version, kind):
        api.delete(api_version, kind, item["metadata"]["name"], item["metadata"].get("namespace"), grace_seconds=0)
    wait_for(lambda: not api.list(api_version, kind))
