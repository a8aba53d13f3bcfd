"""The component package as any Pulumi language sees it: over gRPC, from its own process."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2, provider_pb2_grpc

COMPONENTS = Path(__file__).parent.parent.parent / "components"
TOKENS = {
    "gpukit:index:CoolingZone",
    "gpukit:index:FrameworkImage",
    "gpukit:index:GpuCluster",
    "gpukit:index:GpuNetwork",
    "gpukit:index:GpuNodePool",
    "gpukit:index:GpuWorkstation",
    "gpukit:index:SpendGuard",
    "gpukit:index:TrainingStorage",
}


@pytest.fixture(scope="module")
def schema() -> Iterator[dict[str, Any]]:
    """The schema that the package answers to the engine's GetSchema."""
    host = subprocess.Popen(
        [sys.executable, str(COMPONENTS), "127.0.0.1:1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        assert host.stdout is not None
        port = host.stdout.readline().strip()
        if not port:
            assert host.stderr is not None
            pytest.fail(f"the component host did not start: {host.stderr.read()[-2000:]}")
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            provider = provider_pb2_grpc.ResourceProviderStub(channel)
            answer = provider.GetSchema(provider_pb2.GetSchemaRequest(version=0), timeout=30)
        yield json.loads(answer.schema)
    finally:
        host.terminate()
        host.wait(timeout=10)


def test_every_component_is_offered_under_its_token(schema: dict[str, Any]) -> None:
    assert set(schema["resources"]) == TOKENS


def test_every_component_argument_and_output_is_described(schema: dict[str, Any]) -> None:
    for token, component in schema["resources"].items():
        assert component["isComponent"]
        assert component["description"], token
        for kind in ("inputProperties", "properties"):
            assert component[kind], f"{token} has no {kind}"
            for name, prop in component[kind].items():
                assert prop.get("description"), f"{token}.{name}"
    for token, kind in schema["types"].items():
        for name, prop in kind["properties"].items():
            assert prop.get("description"), f"{token}.{name}"


def test_counts_are_integers_and_ids_may_be_outputs_of_other_resources(schema: dict[str, Any]) -> None:
    inputs = schema["resources"]["gpukit:index:GpuNodePool"]["inputProperties"]

    assert inputs["nodes"]["type"] == "integer"
    assert inputs["nodes"]["plain"] is True
    assert "plain" not in inputs["clusterName"]


def test_pool_needs_only_cluster_type_and_place(schema: dict[str, Any]) -> None:
    assert sorted(schema["resources"]["gpukit:index:GpuNodePool"]["requiredInputs"]) == [
        "clusterName",
        "instanceType",
        "subnetIds",
        "vpcId",
    ]
