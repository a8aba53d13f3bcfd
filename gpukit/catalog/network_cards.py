"""Network cards one by one: from the ranges of the table, or from an instance type alone."""

from itertools import pairwise

from gpukit.catalog.fact import CatalogError
from gpukit.catalog.hardware import InstanceType, NetworkCard, NetworkCardRange


def expand_range(row: NetworkCardRange) -> list[NetworkCard]:
    """Return the cards of a range, one each."""
    return [
        NetworkCard(
            instance_type=row.instance_type,
            index=index,
            max_enis=row.max_enis,
            interface_types=row.interface_types,
            efa_gbps=row.efa_gbps,
            ena_gbps=row.ena_gbps,
            efa_default=row.efa_default,
            efa_default_device_index=row.efa_default_device_index,
            source=row.source,
            as_of=row.as_of,
            doubts=row.doubts,
        )
        for index in range(row.card_from, row.card_to + 1)
    ]


def require_distinct_cards(name: str, cards: list[NetworkCard]) -> None:
    """Raise CatalogError where rows describe a card twice, as an override may that splits a range differently."""
    for card, following in pairwise(cards):
        if card.index == following.index:
            raise CatalogError(
                f"network card {card.index} of {name} is described twice",
                place="network_cards.csv",
                why="rows are found by their first card, so ranges that overlap add up",
                fix="start the ranges at the same cards as the shipped table",
            )


def lay_out_uniform_cards(instance: InstanceType) -> tuple[NetworkCard, ...]:
    """Return the cards of a type without rows of its own: all alike, but for a card 0 without EFA."""
    if not instance.network_cards:
        return ()
    cards = []
    for index in range(instance.network_cards):
        efa = instance.supports_efa and (index > 0 or instance.efa_on_card0 is not False)
        cards.append(
            NetworkCard(
                instance_type=instance.name,
                index=index,
                max_enis=instance.default_card_max_enis,
                interface_types=("interface", "efa", "efa-only") if efa else ("interface",),
                efa_gbps=None if efa else 0.0,
                ena_gbps=None,
                efa_default=efa,
                efa_default_device_index=(1 if index == 0 else 0) if efa else None,
                source=instance.source,
                as_of=instance.as_of,
                doubts="no row in the table of network cards: taken as uniform",
            )
        )
    return tuple(cards)
