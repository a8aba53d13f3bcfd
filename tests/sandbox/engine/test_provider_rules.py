"""What the double refuses before it calls anything, and the words it uses."""

import pytest
from gpukit_sandbox.errors import SandboxError
from gpukit_sandbox.provider.clients import require_loopback
from gpukit_sandbox.provider.sdk_types import misfits, resource_type


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:5000", "http://localhost:5000", "http://[::1]:5000", "http://127.9.9.9"]
)
def test_this_machine_is_accepted(endpoint: str) -> None:
    assert endpoint == require_loopback(endpoint)


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "127.0.0.1:5000",
        "https://ec2.us-east-1.amazonaws.com",
        "http://10.0.0.1:5000",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "http://0.0.0.0:5000",
    ],
)
def test_any_other_endpoint_is_refused(endpoint: str) -> None:
    with pytest.raises(SandboxError, match="AWS_ENDPOINT_URL"):
        require_loopback(endpoint)


@pytest.mark.parametrize(
    ("token", "inputs", "paths"),
    [
        pytest.param("aws:ec2/vpc:Vpc", {"cidrBlock": "x"}, [], id="fine"),
        pytest.param("aws:ec2/vpc:Vpc", {"cidrBlok": "x"}, ["cidrBlok"], id="top"),
        pytest.param("aws:ec2/vpc:Vpc", {"cidr_block": "x"}, ["cidr_block"], id="python-spelling"),
        pytest.param(
            "aws:ec2/launchTemplate:LaunchTemplate",
            {"networkInterfaces": [{"deviceIndex": 0}, {"deviceindex": 1}]},
            ["networkInterfaces[1].deviceindex"],
            id="inside-a-list",
        ),
        pytest.param(
            "aws:eks/cluster:Cluster", {"vpcConfig": {"subnets": []}}, ["vpcConfig.subnets"], id="inside-a-block"
        ),
        pytest.param("aws:ec2/vpc:Vpc", {"tags": {"any": "thing"}}, [], id="keys-of-a-map-are-free"),
    ],
)
def test_inputs_that_the_type_does_not_have(token: str, inputs: dict[str, object], paths: list[str]) -> None:
    declared = resource_type(token)
    assert declared is not None

    assert paths == [misfit.path for misfit in misfits(inputs, declared.inputs)]


def test_the_nearest_name_is_offered() -> None:
    declared = resource_type("aws:ec2/vpc:Vpc")
    assert declared is not None
    (misfit,) = misfits({"cidrBlok": "x"}, declared.inputs)

    assert misfit.reason == "an unexpected argument 'cidrBlok' was provided, did you mean 'cidrBlock'?"
