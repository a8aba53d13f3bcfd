"""Network interfaces follow the cards of the type."""

import pytest

from gpukit.catalog import Catalog
from gpukit.decide.interfaces import lay_out_network_interfaces


@pytest.mark.parametrize(
    ("instance_type", "efa", "total", "cards"),
    [
        pytest.param("p4d.24xlarge", 4, 5, [0, 1, 2, 3], id="p4d"),
        pytest.param("p5.48xlarge", 32, 33, list(range(32)), id="p5"),
        pytest.param("p5en.48xlarge", 16, 17, list(range(16)), id="p5en"),
        pytest.param("p6-b200.48xlarge", 8, 9, list(range(8)), id="b200"),
        pytest.param("p6-b300.48xlarge", 16, 17, list(range(1, 17)), id="b300"),
        pytest.param("p6e-gb200.36xlarge", 4, 5, [1, 5, 9, 13], id="gb200"),
        pytest.param("p6e-gb300r.36xlarge", 1, 2, [0], id="gb300r"),
        pytest.param("g6e.24xlarge", 2, 3, [0, 1], id="g6e"),
        pytest.param("g5.8xlarge", 1, 2, [0], id="g5"),
    ],
)
def test_efa_interfaces_stand_on_the_cards_of_the_type(
    catalog: Catalog, instance_type: str, efa: int, total: int, cards: list[int]
) -> None:
    layout = lay_out_network_interfaces(instance_type, efa=True, catalog=catalog)

    assert [interface.network_card for interface in layout if interface.is_efa] == cards
    assert (len(layout), sum(interface.is_efa for interface in layout)) == (total, efa)


def test_p6_b300_primary_network_card_is_ena_only(catalog: Catalog) -> None:
    layout = lay_out_network_interfaces("p6-b300.48xlarge", efa=True, catalog=catalog)

    assert [interface.interface_type for interface in layout if interface.network_card == 0] == ["interface"]


def test_efa_only_interfaces_take_no_address(catalog: Catalog) -> None:
    """dstack#2270: interfaces on all cards that take addresses exhaust the subnet."""
    layout = lay_out_network_interfaces("p5.48xlarge", efa=True, catalog=catalog)

    assert sum(interface.takes_address for interface in layout) == 1


def test_without_efa_there_is_the_primary_alone(catalog: Catalog) -> None:
    layout = lay_out_network_interfaces("p5.48xlarge", efa=False, catalog=catalog)

    assert [(i.network_card, i.device_index, i.interface_type) for i in layout] == [(0, 0, "interface")]


def test_no_layout_exceeds_what_a_card_takes(catalog: Catalog) -> None:
    for row in catalog.instance_types():
        cards = {card.index: card for card in catalog.network_cards(row.name)}
        layout = lay_out_network_interfaces(row.name, efa=row.supports_efa, catalog=catalog)
        places = [(interface.network_card, interface.device_index) for interface in layout]
        assert len(places) == len(set(places)), row.name
        for index, card in cards.items():
            used = [interface for interface in layout if interface.network_card == index]
            assert card.max_enis is None or len(used) <= card.max_enis, row.name
            assert all(interface.interface_type in card.interface_types for interface in used), row.name
            assert sum(interface.is_efa for interface in used) <= 1, row.name
        if row.max_efa_interfaces is not None:
            assert sum(interface.is_efa for interface in layout) <= row.max_efa_interfaces, row.name
