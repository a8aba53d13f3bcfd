"""The table of capacity modes: one row for every mode x size x EFA x kind of reservation, and what each must say."""

from itertools import product

import pytest

from gpukit.catalog import Catalog, UnknownName
from gpukit.catalog.rules import CapacityMode

RESERVATIONS = {
    "on-demand": ("none",),
    "spot": ("none",),
    "reserved": ("id", "resource-group"),
    "capacity-block": ("id",),
}
CASES = [
    pytest.param(mode, nodes, efa, reservation, id=f"{mode}-{nodes}-{'efa' if efa else 'ena'}-{reservation}")
    for mode, kinds in RESERVATIONS.items()
    for nodes, efa, reservation in product((1, 2, 128), (True, False), kinds)
]


def test_the_modes_are_the_four_of_the_stack_file(catalog: Catalog) -> None:
    assert {row.mode for row in catalog.capacity_modes()} == set(RESERVATIONS)


@pytest.mark.parametrize(("mode", "nodes", "efa", "reservation"), CASES)
def test_exactly_one_row_decides(mode: str, nodes: int, efa: bool, reservation: str, catalog: Catalog) -> None:
    rows = [
        row for row in catalog.capacity_modes() if row.covers(mode=mode, nodes=nodes, efa=efa, reservation=reservation)
    ]

    assert len(rows) == 1
    assert rows[0] == catalog.capacity_mode(mode, nodes=nodes, efa=efa, reservation=reservation)


@pytest.mark.parametrize(("mode", "nodes", "efa", "reservation"), CASES)
def test_the_rules_of_aws_hold_in_every_row(
    mode: str, nodes: int, efa: bool, reservation: str, catalog: Catalog
) -> None:
    row = catalog.capacity_mode(mode, nodes=nodes, efa=efa, reservation=reservation)

    assert (row.placement_group == "own") == (mode == "on-demand" and nodes > 1 and efa)
    assert (row.quota == "on-demand") == (mode == "on-demand")
    assert (row.target == "none") == (reservation == "none")
    assert (
        (row.eks_capacity_type == "CAPACITY_BLOCK")
        == (row.market_type == "capacity-block")
        == (mode == "capacity-block")
    )
    if mode in {"reserved", "capacity-block"}:
        # A new node beside the old one would need an instance that the reservation does not hold.
        assert row.update_surge == 0
        assert row.eks_update_strategy == "MINIMAL"


def test_words_are_of_the_known_sets(catalog: Catalog) -> None:
    allowed = {
        "placement_group": {"none", "own", "reservation", "never"},
        "scaling": {"min..max", "max=reserved", "fixed"},
        "quota": {"on-demand", "spot", "none"},
        "target": {"none", "reservation-id", "resource-group"},
        "market_type": {"", "spot", "capacity-block"},
        "eks_capacity_type": {"ON_DEMAND", "SPOT", "CAPACITY_BLOCK"},
        "eks_update_strategy": {"DEFAULT", "MINIMAL"},
        "instance_types": {"one", "several"},
    }
    for row in catalog.capacity_modes():
        for column, words in allowed.items():
            assert getattr(row, column) in words, (row.mode, column)
        assert row.because


def test_a_capacity_block_group_never_has_a_placement_group(catalog: Catalog) -> None:
    row = catalog.capacity_mode("capacity-block", nodes=64, efa=True)

    assert isinstance(row, CapacityMode)
    assert (row.placement_group, row.scaling, row.max_instances_per_group) == ("never", "fixed", 64)


def test_group_sizes_agree_with_the_rules_they_come_from(catalog: Catalog) -> None:
    largest = {row.mode: row.max_instances_per_group for row in catalog.capacity_modes()}

    assert largest["capacity-block"] == catalog.capacity_block_rule("max-instances-per-block").value
    assert largest["on-demand"] == catalog.limit("eks-mng-nodes").value


@pytest.mark.parametrize(
    ("mode", "reservation", "near"),
    [
        pytest.param("capacity_block", None, ("capacity-block",), id="underscore"),
        pytest.param("spott", None, ("spot",), id="typing slip"),
        pytest.param("reserved", "resource-groups", ("resource-group",), id="kind of reservation"),
    ],
)
def test_unknown_words_get_the_nearest(
    mode: str, reservation: str | None, near: tuple[str, ...], catalog: Catalog
) -> None:
    with pytest.raises(UnknownName) as caught:
        catalog.capacity_mode(mode, nodes=2, efa=True, reservation=reservation)

    assert near == caught.value.near


@pytest.mark.parametrize(
    ("days", "legal"),
    [(1, True), (14, True), (15, False), (21, True), (22, False), (182, True), (189, False), (0, False)],
)
def test_block_durations_can_be_told_from_the_rules(days: int, legal: bool, catalog: Catalog) -> None:
    def rule(id: str) -> float:
        return catalog.capacity_block_rule(id).value

    short = rule("short-duration-min") <= days <= rule("short-duration-max") and days % rule("short-duration-step") == 0
    long = rule("long-duration-min") <= days <= rule("long-duration-max") and days % rule("long-duration-step") == 0

    assert legal == (short or long)
