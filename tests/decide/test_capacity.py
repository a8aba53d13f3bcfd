"""The capacity mode decides placement, scaling, surge, quota and target, by one table."""

from datetime import date
from typing import Any

import pytest

from gpukit.catalog import Catalog
from gpukit.decide.capacity import find_mode_row
from gpukit.plan import Plan

from .conftest import Planner


def _pool(**keys: Any) -> dict[str, Any]:
    return {"pools": {"train": {"instance_type": "p5en.48xlarge", **keys}}}


@pytest.mark.parametrize(
    ("nodes", "sizes"),
    [
        pytest.param(1, [1], id="one"),
        pytest.param(64, [64], id="one-full-block"),
        pytest.param(65, [64, 1], id="one-over"),
        pytest.param(125, [64, 61], id="a-thousand-gpus"),
        pytest.param(128, [64, 64], id="thousand-card"),
    ],
)
def test_a_pool_is_split_into_capacity_blocks_of_64(plan: Planner, nodes: int, sizes: list[int]) -> None:
    made = plan(_pool(nodes=nodes, capacity={"mode": "capacity-block"}))

    assert [group.instances for group in made.pools[0].node_groups] == sizes


def test_growing_a_pool_changes_the_last_group_and_appends_new_ones(plan: Planner) -> None:
    small = plan(_pool(nodes=100, capacity={"mode": "capacity-block"})).pools[0].node_groups
    large = plan(_pool(nodes=140, capacity={"mode": "capacity-block"})).pools[0].node_groups

    assert [group.name for group in large][: len(small)] == [group.name for group in small]
    assert large[0] == small[0]


def test_a_capacity_block_pool_has_no_placement_group_and_a_market_type(plan: Planner) -> None:
    groups = plan(_pool(nodes=8, capacity={"mode": "capacity-block"})).pools[0].node_groups

    assert [(g.placement_group, g.owns_placement_group) for g in groups] == [(None, False)]
    assert (groups[0].capacity.market_type, groups[0].capacity.eks_capacity_type) == (
        "capacity-block",
        "CAPACITY_BLOCK",
    )
    assert groups[0].capacity.quota is None


def test_an_on_demand_pool_with_efa_has_a_placement_group_of_its_own(plan: Planner) -> None:
    group = plan(_pool(nodes=8, capacity={"mode": "on-demand"})).pools[0].node_groups[0]

    assert group.owns_placement_group
    assert group.placement_group
    assert group.capacity.quota == "L-417A185B"


def test_a_pool_of_one_node_has_no_placement_group(plan: Planner) -> None:
    group = plan(_pool(nodes=1, capacity={"mode": "on-demand"})).pools[0].node_groups[0]

    assert (group.placement_group, group.efa_interfaces) == (None, 0)


def test_a_reservation_pool_makes_no_placement_group_of_its_own(plan: Planner) -> None:
    """eksctl#7949: a hidden placement group splits the reservation."""
    reservation = {"id": "cr-0123456789abcdef0", "nodes": 16, "availability_zone": "us-east-1a"}
    group = plan(_pool(nodes=16, capacity={"mode": "reserved", "reservations": [reservation]})).pools[0].node_groups[0]

    assert (group.placement_group, group.owns_placement_group) == (None, False)
    assert group.capacity.reservation_id == "cr-0123456789abcdef0"


def test_a_reservation_made_in_a_placement_group_keeps_that_group(plan: Planner) -> None:
    """aws-parallelcluster#4215: the group must equal the reservation's."""
    reservation = {
        "id": "cr-0123456789abcdef0",
        "nodes": 4,
        "availability_zone": "us-east-1a",
        "placement_group": "ours",
    }
    group = plan(_pool(nodes=4, capacity={"mode": "reserved", "reservations": [reservation]})).pools[0].node_groups[0]

    assert (group.placement_group, group.owns_placement_group) == ("ours", False)


def test_efa_and_placement_group_are_independent_inputs(plan: Planner) -> None:
    """terraform-aws-eks#3661: EFA must not force a placement group on anyone."""
    group = plan(_pool(nodes=8, placement_group="none")).pools[0].node_groups[0]

    assert group.placement_group is None
    assert group.efa_interfaces == 16


def test_a_named_placement_group_is_used_and_not_made(plan: Planner) -> None:
    group = plan(_pool(nodes=8, placement_group="given")).pools[0].node_groups[0]

    assert (group.placement_group, group.owns_placement_group) == ("given", False)


def test_each_source_of_a_list_is_a_node_group_of_its_own_row(plan: Planner) -> None:
    block = {"id": "cr-0123456789abcdef0", "nodes": 8, "availability_zone": "us-east-1a"}
    made = plan(
        _pool(
            nodes=12,
            capacity=[{"mode": "capacity-block", "reservations": [block]}, {"mode": "on-demand", "nodes": 4}],
        )
    )

    assert [(g.capacity.mode, g.instances) for g in made.pools[0].node_groups] == [
        ("capacity-block", 8),
        ("on-demand", 4),
    ]


def _dated(today: date) -> Plan:
    from gpukit.planning import plan_from_mapping

    block = {
        "id": "cr-0123456789abcdef0",
        "nodes": 8,
        "availability_zone": "us-east-1a",
        "starts": "2026-12-10",
        "ends": "2026-12-24",
    }
    result = plan_from_mapping(
        _pool(nodes=8, capacity={"mode": "capacity-block", "reservations": [block]}), today=today
    )
    assert result.plan is not None
    return result.plan


def test_a_block_that_opens_later_is_declared_at_zero(plan: Planner) -> None:
    group = _dated(date(2026, 12, 1)).pools[0].node_groups[0]

    assert (group.instances, group.min_instances, group.opens) == (0, 0, "2026-12-10")


def test_an_open_block_has_a_fixed_size() -> None:
    group = _dated(date(2026, 12, 11)).pools[0].node_groups[0]

    assert (group.instances, group.min_instances, group.max_instances, group.opens) == (8, 8, 8, None)


def test_an_ended_block_keeps_its_nodes_so_that_other_edits_replace_nothing() -> None:
    """aws-parallelcluster#6870."""
    assert _dated(date(2027, 1, 1)).pools[0].node_groups == _dated(date(2026, 12, 11)).pools[0].node_groups


def test_a_large_on_demand_pool_shares_one_placement_group_over_its_node_groups(plan: Planner) -> None:
    groups = plan(_pool(nodes=1000)).pools[0].node_groups

    assert [group.instances for group in groups] == [450, 450, 100]
    assert len({group.placement_group for group in groups}) == 1


def test_ultraserver_pools_have_one_node_group_a_rack(plan: Planner) -> None:
    made = plan(
        {"pools": {"train": {"ultraserver": "u-p6e-gb200x72", "nodes": 36, "capacity": {"mode": "capacity-block"}}}}
    )

    assert [(g.instances, g.rack) for g in made.pools[0].node_groups] == [(18, "train-rack-1"), (18, "train-rack-2")]


@pytest.mark.parametrize("nodes", [1, 2, 128])
@pytest.mark.parametrize("efa", [True, False])
@pytest.mark.parametrize("reservation", ["none", "id", "resource-group"])
@pytest.mark.parametrize("mode", ["on-demand", "spot", "reserved", "capacity-block"])
def test_the_table_has_exactly_one_answer_for_every_combination(
    catalog: Catalog, mode: str, reservation: str, efa: bool, nodes: int
) -> None:
    row = find_mode_row(catalog, mode=mode, reservation=reservation, nodes=nodes, efa=efa)
    matching = [
        other
        for other in catalog.capacity_modes()
        if other.covers(mode=mode, nodes=nodes, efa=efa, reservation=row.reservation)
    ]

    assert matching == [row]


@pytest.mark.parametrize(
    "row", [pytest.param("capacity-block", id="capacity-block"), pytest.param("reserved", id="reserved")]
)
def test_bought_capacity_is_never_surged_over(catalog: Catalog, row: str) -> None:
    assert {item.update_surge for item in catalog.capacity_modes() if item.mode == row} == {0}


def test_growing_from_one_block_to_two_keeps_the_first_node_group(plan: Planner) -> None:
    small = plan(_pool(nodes=64, capacity={"mode": "capacity-block"})).pools[0].node_groups
    large = plan(_pool(nodes=128, capacity={"mode": "capacity-block"})).pools[0].node_groups

    assert [group.name for group in small] == ["train-1"]
    assert large[0] == small[0]


def test_one_spot_source_takes_efa_from_no_other(plan: Planner) -> None:
    """Never a silent fall from EFA to TCP."""
    made = plan(_pool(nodes=12, capacity=[{"mode": "spot", "nodes": 8}, {"mode": "on-demand", "nodes": 4}]))

    assert {group.efa_interfaces for group in made.pools[0].node_groups} == {16}
    assert len({zone for group in made.pools[0].node_groups for zone in group.availability_zones}) == 1
