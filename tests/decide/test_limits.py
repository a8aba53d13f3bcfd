"""The limits table: what a plan uses of every quota and hard limit, in true numbers."""

from typing import Any

import pytest

from gpukit.catalog import Catalog
from gpukit.plan import LimitLine, Plan
from gpukit.planning import plan_from_mapping, plan_from_preset
from gpukit.spec.presets import preset_names
from tests.decide.conftest import Planner

BLOCK: dict[str, Any] = {"mode": "capacity-block"}


def _line(plan: Plan, line_id: str) -> LimitLine:
    return next(line for line in plan.limits if line.id == line_id)


def _pool(instance_type: str, nodes: int, **keys: Any) -> dict[str, Any]:
    return {"region": "us-east-1", "pools": {"train": {"instance_type": instance_type, "nodes": nodes, **keys}}}


def _preset(*sets: str) -> Plan:
    result = plan_from_preset("thousand-card", sets=sets)
    assert result.plan is not None
    return result.plan


def test_a_thousand_gpus_on_demand_need_24576_vcpus_of_the_p_quota() -> None:
    line = _line(_preset("pools.train.capacity={mode: on-demand}"), "vcpu-od-p")

    assert (line.used, line.quota_code, line.scope) == (24_576.0, "L-417A185B", "region")
    assert line.verdict == "unknown"
    assert line.because == "128 x 192 of train-1"


def test_a_thousand_gpus_in_capacity_blocks_need_no_vcpu_quota() -> None:
    """Public report: skypilot PR#3937, quota 0 on demand blocked reserved nodes that were usable."""
    line = _line(_preset(), "vcpu-od-p")

    assert (line.used, line.verdict) == (0.0, "not-counted")
    assert line.because == "24,576 vCPUs of reserved and Capacity Block nodes do not count"


@pytest.mark.parametrize(
    ("own", "verdict", "pct"),
    [
        pytest.param(24_575, "error", 100.004, id="one-too-few"),
        pytest.param(24_576, "warning", 100.0, id="exactly-enough"),
        pytest.param(40_000, "fine", 61.44, id="room-left"),
    ],
)
def test_the_accounts_own_limit_replaces_the_default(own: int, verdict: str, pct: float) -> None:
    plan = _preset("pools.train.capacity={mode: on-demand}", f"limits.L-417A185B={own}")
    line = _line(plan, "vcpu-od-p")

    assert (line.verdict, line.source) == (verdict, "your own limit")
    assert line.pct == pytest.approx(pct, abs=0.01)


def test_own_limits_go_by_limit_id_too(plan: Planner) -> None:
    mapping = _pool("g6e.xlarge", 2) | {"limits": {"eni-per-region": 10}}

    assert _line(plan(mapping), "eni-per-region").limit == 10


@pytest.mark.parametrize(
    ("instance_type", "nodes", "interfaces"),
    [
        pytest.param("p5.48xlarge", 128, 33, id="p5"),
        pytest.param("p5en.48xlarge", 128, 17, id="p5en"),
        pytest.param("p6-b200.48xlarge", 128, 9, id="p6-b200"),
        pytest.param("p6-b300.48xlarge", 128, 17, id="p6-b300"),
    ],
)
def test_interfaces_of_all_nodes_count_with_one_warm_interface_each(
    instance_type: str, nodes: int, interfaces: int, plan: Planner, catalog: Catalog
) -> None:
    zone = catalog.zones_offering(instance_type, "us-east-1")[0]
    made = plan(_pool(instance_type, nodes, zones=[zone]))
    line = _line(made, "eni-per-region")
    laid_out = len(made.pools[0].node_groups[0].network_interfaces)
    # one more a node for the pod network, four for the control plane, one NAT gateway
    assert line.used == nodes * laid_out + nodes + 4 + 1
    assert abs(laid_out - interfaces) <= 1


def test_128_p5_nodes_use_more_than_70_per_cent_of_a_regions_interfaces(plan: Planner) -> None:
    line = _line(plan(_pool("p5.48xlarge", 128, zones=["us-east-1a"])), "eni-per-region")

    assert line.verdict == "warning"
    assert line.limit == 5000


def test_160_p5_nodes_exceed_a_regions_interfaces(plan: Planner) -> None:
    assert _line(plan(_pool("p5.48xlarge", 160, zones=["us-east-1a"])), "eni-per-region").verdict == "error"


def test_root_volumes_of_500_gib_on_128_nodes_exceed_the_gp3_storage_of_a_region(plan: Planner) -> None:
    line = _line(plan(_pool("p5en.48xlarge", 128, zones=["us-east-1a"], root_volume={"gib": 500})), "ebs-gp3-storage")

    assert (line.used, line.limit, line.verdict) == (62.5, 50.0, "error")


def test_volumes_count_by_their_type(plan: Planner) -> None:
    made = plan(_pool("g6e.xlarge", 4, root_volume={"gib": 512, "type": "io2", "iops": 5000}))

    assert _line(made, "ebs-io2-storage").used == 2.0
    assert _line(made, "ebs-io2-storage").verdict == "unknown"


def test_an_efa_lustre_of_128_nodes_uses_all_its_connections_and_no_more(plan: Planner) -> None:
    mapping = _pool("p5en.48xlarge", 128, zones=["us-east-1a"])
    mapping["storage"] = {"scratch": {"kind": "lustre", "efa": True, "gib": 38400, "throughput_tier": 125}}
    line = _line(plan(mapping), "fsx-efa-conn/scratch")

    assert (line.used, line.limit, line.verdict) == (1024.0, 1024.0, "fine")


def test_a_capacity_block_line_shows_its_largest_block_and_the_sum() -> None:
    made = _preset()

    assert (_line(made, "cb-instances").used, _line(made, "cb-instances").verdict) == (64.0, "fine")
    assert (_line(made, "cb-total").used, _line(made, "cb-total").limit) == (128.0, 256.0)


def test_node_groups_are_two_for_a_thousand_gpus_and_one_for_helpers() -> None:
    made = _preset()

    assert _line(made, "eks-mng-per-cluster").used == 3.0
    assert _line(made, "lt-per-region").used == 3.0


def test_a_pool_that_can_grow_counts_at_its_largest(plan: Planner) -> None:
    mapping = _pool("g6e.xlarge", 0)
    mapping["pools"]["train"]["nodes"] = {"min": 0, "max": 8}

    assert _line(plan(mapping), "vcpu-od-g").used == 32.0


def test_spot_nodes_count_against_the_spot_quota(plan: Planner) -> None:
    made = plan(_pool("g6e.xlarge", 2, capacity={"mode": "spot"}))

    assert _line(made, "vcpu-spot-g").used == 8.0
    assert "vcpu-od-g" not in {line.id for line in made.limits}


def test_every_subnet_has_a_line_with_its_own_size(plan: Planner) -> None:
    made = plan(_pool("p5en.48xlarge", 2, zones=["us-east-1a"]))
    lines = {line.id.partition("/")[2]: line for line in made.limits if line.id.startswith("subnet-addresses/")}

    assert set(lines) == {subnet.name for subnet in made.network.subnets}
    for subnet in made.network.subnets:
        assert (lines[subnet.name].used, lines[subnet.name].limit) == (
            float(subnet.needed_addresses),
            float(subnet.usable_addresses or 0),
        )


@pytest.mark.parametrize("preset", preset_names())
def test_every_line_of_a_preset_says_where_its_limit_comes_from_and_how_to_raise_it(preset: str) -> None:
    made = plan_from_preset(preset).plan
    assert made is not None
    bad = [
        line.id
        for line in made.limits
        if not line.because
        or not line.source
        or not line.unit
        or (line.verdict in ("error", "warning", "unknown") and not line.how_to_raise)
    ]

    assert bad == []


@pytest.mark.parametrize("preset", preset_names())
def test_line_ids_are_unique_and_sorted_by_weight(preset: str) -> None:
    made = plan_from_preset(preset).plan
    assert made is not None
    order = ["error", "warning", "unknown", "fine", "not-counted"]
    weights = [order.index(line.verdict) for line in made.limits]

    assert len({line.id for line in made.limits}) == len(made.limits)
    assert weights == sorted(weights)


def test_a_cluster_has_a_line_for_every_subject_of_the_budget_table() -> None:
    made = plan_from_mapping(
        _pool("p5en.48xlarge", 2, zones=["us-east-1a"])
        | {
            "storage": {"scratch": {"kind": "lustre"}, "home": {"kind": "efs", "role": "home"}},
            "images": {"pytorch": {"framework": "pytorch"}},
        }
    ).plan
    assert made is not None
    wanted = {
        "eni-per-region", "nau", "sg-rules", "sg-per-eni", "eks-mng-per-cluster", "eks-mng-nodes", "vcpu-od-p",
        "ebs-gp3-storage", "fsx-p2-cap", "fsx-p2-fs", "efs-fs", "eip", "pg-per-account", "eks-clusters", "eks-nodes",
        "iam-roles", "lt-per-region", "lt-per-region/versions", "vpcs-per-region", "lt-tags",
    }  # fmt: skip

    assert wanted - {line.id for line in made.limits} == set()
