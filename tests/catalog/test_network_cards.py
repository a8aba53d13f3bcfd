"""Network cards: the layout of EFA interfaces, per card, as launch templates must have it."""

from typing import Any

import pytest

from gpukit.catalog import Catalog, load_catalog

NAMES = [row.name for row in load_catalog().instance_types()]
each_name = pytest.mark.parametrize("name", NAMES)


@each_name
def test_cards_are_counted_from_zero_without_a_gap(name: str, catalog: Catalog) -> None:
    cards = catalog.network_cards(name)
    count = catalog.instance_type(name).network_cards

    assert [card.index for card in cards] == list(range(count or 0))


@each_name
def test_the_default_layout_can_be_attached(name: str, catalog: Catalog) -> None:
    row = catalog.instance_type(name)
    chosen = [card for card in catalog.network_cards(name) if card.efa_default]

    assert len(chosen) <= (row.max_efa_interfaces or 0)
    for card in chosen:
        assert "efa-only" in card.interface_types
        # On card 0 the primary interface already has device index 0.
        assert card.efa_default_device_index == (1 if card.index == 0 else 0)
        assert card.max_enis is not None
        assert card.max_enis > card.efa_default_device_index


@each_name
def test_efa_types_have_a_default_layout_and_others_have_none(name: str, catalog: Catalog) -> None:
    row = catalog.instance_type(name)

    assert any(card.efa_default for card in catalog.network_cards(name)) == row.supports_efa


@each_name
def test_efa_on_card_0_is_said_the_same_twice(name: str, catalog: Catalog) -> None:
    cards = catalog.network_cards(name)
    row = catalog.instance_type(name)
    if cards and row.supports_efa:
        assert cards[0].supports_efa == row.efa_on_card0


@each_name
def test_cards_are_what_the_api_says(name: str, catalog: Catalog, api_dump: dict[str, Any]) -> None:
    if name not in api_dump:
        assert catalog.instance_type(name).family in {"p2", "p3", "p6e-gb200", "p6e-gb300", "p6e-gb300r"}
        return
    told = api_dump[name]["NetworkInfo"]["NetworkCards"]
    cards = catalog.network_cards(name)

    assert [(card["NetworkCardIndex"], card["MaximumNetworkInterfaces"]) for card in told] == [
        (card.index, card.max_enis) for card in cards
    ]
    assert [set(card["InterfaceTypes"]) for card in told] == [set(card.interface_types) for card in cards]


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        pytest.param("p4d.24xlarge", list(range(4)), id="p4d: all 4"),
        pytest.param("p5.48xlarge", list(range(32)), id="p5: all 32"),
        pytest.param("p5en.48xlarge", list(range(16)), id="p5en: all 16"),
        pytest.param("p6-b200.48xlarge", list(range(8)), id="p6-b200: all 8"),
        pytest.param("p6-b300.48xlarge", list(range(1, 17)), id="p6-b300: card 0 has no EFA"),
        pytest.param("p6e-gb200.36xlarge", [1, 5, 9, 13], id="p6e-gb200: four of 400 Gbps"),
        pytest.param("p6e-gb300r.36xlarge", [0], id="p6e-gb300r: card 0 only"),
        pytest.param("g5.xlarge", [], id="g5.xlarge: none"),
    ],
)
def test_cards_with_efa_by_default(name: str, chosen: list[int], catalog: Catalog) -> None:
    assert chosen == [card.index for card in catalog.network_cards(name) if card.efa_default]


@pytest.mark.parametrize(
    "name", ["p4d.24xlarge", "p5.48xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge"]
)
def test_the_default_layout_reaches_the_whole_bandwidth(name: str, catalog: Catalog) -> None:
    cards = [card for card in catalog.network_cards(name) if card.efa_default]

    assert sum(card.efa_gbps or 0 for card in cards) == catalog.instance_type(name).network_gbps


def test_gb200_uses_no_more_than_its_physical_cards_carry(catalog: Catalog) -> None:
    """aws/aws-parallelcluster#6930: odd cards take one interface, even ones two; all 16 would share four uplinks."""
    cards = [card for card in catalog.network_cards("p6e-gb200.36xlarge") if card.efa_default]

    assert sum(card.efa_gbps or 0 for card in cards) == 1600
    assert all(card.index % 2 for card in cards)


def test_p6_b300_primary_network_card_is_ena_only(catalog: Catalog) -> None:
    """aws/aws-parallelcluster#7143: nodes with an EFA interface on card 0 do not launch."""
    assert catalog.network_cards("p6-b300.48xlarge")[0].interface_types == ("interface",)


def test_cards_of_gb300r_beyond_0_take_no_interface(catalog: Catalog) -> None:
    """The API lists them with zero interfaces; a dry run does not notice."""
    assert [card.max_enis for card in catalog.network_cards("p6e-gb300r.36xlarge")] == [2] + [0] * 8
