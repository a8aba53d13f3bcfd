"""Each component without any other: the core decides, and only its own part is made."""

import collections
from collections.abc import Callable
from typing import Any

import pulumi
import pytest
from gpukit_components import (
    CoolingZone,
    FrameworkImage,
    GpuCluster,
    GpuNetwork,
    GpuNodePool,
    GpuWorkstation,
    SpendGuard,
    TrainingStorage,
)
from recorder import Recorder, unknown

SUBNETS = {"us-east-1a": "subnet-a", "us-east-1b": "subnet-b"}
POOL: dict[str, Any] = {
    "cluster_name": "theirs",
    "instance_type": "p5.48xlarge",
    "vpc_id": "vpc-1",
    "subnet_ids": SUBNETS,
    "nodes": 2,
}
ALONE: list[Any] = [
    pytest.param(GpuNetwork, {"instance_type": "p5en.48xlarge", "nodes": 4.0}, "Vpc", id="network"),
    pytest.param(GpuNodePool, POOL, "NodeGroup", id="node-pool"),
    pytest.param(GpuCluster, {"vpc_id": "vpc-1", "subnet_ids": SUBNETS}, "Cluster", id="cluster"),
    pytest.param(GpuWorkstation, {"instance_type": "g5.xlarge", "data_gib": 100.0}, "Instance", id="workstation"),
    pytest.param(
        TrainingStorage,
        {
            "stores": {"fast": {"kind": "lustre", "data_repository": "data"}, "data": {"kind": "s3"}},
            "vpc_id": "vpc-1",
            "subnet_ids": SUBNETS,
        },
        "LustreFileSystem",
        id="storage",
    ),
    pytest.param(
        FrameworkImage, {"framework": "pytorch", "instance_type": "p5.48xlarge"}, "FrameworkImage", id="image"
    ),
    pytest.param(CoolingZone, {"method": "liquid", "racks": 2, "envelope_kw": 100.0}, "Parameter", id="cooling-zone"),
    pytest.param(SpendGuard, {"monthly_usd": 1000, "notify": ["team@example.com"]}, "Budget", id="spend-guard"),
]


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "up"])
@pytest.mark.parametrize(("component", "args", "makes"), ALONE)
def test_component_works_alone(
    recorded: Callable[..., Recorder], component: Any, args: dict[str, Any], makes: str, preview: bool
) -> None:
    made = recorded(lambda: component("part", args), preview=preview)

    assert made.of(component.__name__)
    assert made.of(makes)


@pytest.mark.parametrize(("component", "args", "makes"), ALONE)
def test_component_takes_ids_that_are_not_known_yet(
    recorded: Callable[..., Recorder], component: Any, args: dict[str, Any], makes: str
) -> None:
    def program() -> None:
        later = dict(args)
        for key in ("vpc_id", "cluster_name"):
            if key in later:
                later[key] = unknown()
        if "subnet_ids" in later:
            later["subnet_ids"] = {zone: unknown() for zone in later["subnet_ids"]}
        component("part", later)

    assert recorded(program, preview=True).of(makes)


def test_pool_alone_gets_the_whole_layout_from_type_and_count(recorded: Callable[..., Recorder]) -> None:
    made = recorded(lambda: GpuNodePool("train", POOL))

    interfaces = made.one("LaunchTemplate").inputs["networkInterfaces"]
    kinds = collections.Counter(interface["interfaceType"] for interface in interfaces)
    assert kinds["efa-only"] + kinds["efa"] == 32
    assert made.one("PlacementGroup").inputs["strategy"] == "cluster"
    assert made.one("SecurityGroup").inputs["ingress"][0]["self"] is True
    assert "sg-looked-up" in interfaces[0]["securityGroups"]
    assert made.one("NodeGroup").inputs["subnetIds"] == ["subnet-a"]
    assert made.one("NodeGroup").inputs["clusterName"] == "theirs"


def test_pool_alone_on_a_capacity_block_names_its_reservation(recorded: Callable[..., Recorder]) -> None:
    block = {"id": "cr-0123456789abcdef0", "nodes": 4.0, "availability_zone": "us-east-1a"}
    args = {
        **POOL,
        "instance_type": "p5en.48xlarge",
        "nodes": 4,
        "capacity_mode": "capacity-block",
        "reservations": [block],
    }

    made = recorded(lambda: GpuNodePool("train", args))

    template = made.one("LaunchTemplate").inputs
    assert template["capacityReservationSpecification"]["capacityReservationTarget"] == {
        "capacityReservationId": "cr-0123456789abcdef0"
    }
    assert made.of("PlacementGroup") == []
    assert made.one("NodeGroup").inputs["subnetIds"] == ["subnet-a"]


def test_mistakes_name_the_arguments_of_the_component_all_at_once(recorded: Callable[..., Recorder]) -> None:
    args = {**POOL, "instance_type": "p5.49xlarge", "labels": {"kubernetes.io/role": "gpu"}, "capacity_mode": "cheap"}

    with pytest.raises(pulumi.InputPropertiesError) as caught:
        recorded(lambda: GpuNodePool("train", args))

    paths = {entry["property_path"] for entry in caught.value.errors or []}
    assert {"instance_type", "capacity.mode"} <= paths


def test_refused_component_registers_nothing() -> None:
    from recorder import Recorder as Engine
    from recorder import record

    engines: list[Engine] = []
    with pytest.raises(pulumi.InputPropertiesError):
        record(lambda: GpuNodePool("train", {**POOL, "instance_type": "p5.49xlarge"}), seen=engines)

    assert engines[0].resources == []


def test_workstation_in_a_vpc_needs_subnet_and_zone(recorded: Callable[..., Recorder]) -> None:
    with pytest.raises(pulumi.InputPropertyError, match="subnet_id"):
        recorded(lambda: GpuWorkstation("box", {"instance_type": "g5.xlarge", "vpc_id": "vpc-1"}))


def test_guard_without_any_cap_is_refused(recorded: Callable[..., Recorder]) -> None:
    with pytest.raises(pulumi.InputPropertyError, match="monthly_usd"):
        recorded(lambda: SpendGuard("guard", {"notify": ["team@example.com"]}))


def test_region_is_asked_for_where_nobody_states_it(
    recorded: Callable[..., Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(variable, raising=False)

    with pytest.raises(pulumi.InputPropertyError, match="region"):
        recorded(lambda: SpendGuard("guard", {"monthly_usd": 10}), config={"aws:profile": "none"})
