"""Lay out the network interfaces of an instance type, card by card, from the catalogue."""

from typing import TYPE_CHECKING

from gpukit.plan import NetworkInterfacePlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog


def lay_out_network_interfaces(
    instance_type: str, *, efa: bool, catalog: "Catalog"
) -> tuple[NetworkInterfacePlan, ...]:
    """
    Return the interfaces of one instance, the primary first.

    The primary is a plain ENA interface on card 0. With EFA, every card that the catalogue names for the default layout
    takes one `efa-only` interface, which takes no address (`efa` where the card knows nothing else). p5en.48xlarge -> 1
    ENA and 16 efa-only; p6-b300.48xlarge -> card 0 without EFA and 16 efa-only; without EFA -> the primary alone.
    """
    layout = [NetworkInterfacePlan(network_card=0, device_index=0, interface_type="interface", takes_address=True)]
    for card in catalog.network_cards(instance_type) if efa else ():
        if card.efa_default:
            efa_only = "efa-only" in card.interface_types
            layout.append(
                NetworkInterfacePlan(
                    network_card=card.index,
                    device_index=card.efa_default_device_index or 0,
                    interface_type="efa-only" if efa_only else "efa",
                    takes_address=not efa_only,
                )
            )
    return tuple(layout)
