"""Rules on the network interfaces of a launch: which card takes how many, of which kind, and what goes with several of them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.errors import AwsError

EFA_KINDS: Final = ("efa", "efa-only")
INTERFACE_SOURCE: Final = "EC2 User Guide, Elastic Fabric Adapter and multiple network cards; DescribeInstanceTypes, NetworkInfo; gpukit's network_cards.csv"


@dataclass(slots=True, kw_only=True)
class InterfacePlan:
    """One network interface of a launch that passed the rules."""

    settings: Mapping[str, Any]
    subnet_id: str
    groups: list[Any]
    kind: str
    """interface | efa | efa-only"""
    existing: Any = None


def check_interfaces(given: Sequence[Mapping[str, Any]], instance_type: str, count: int) -> None:
    """
    Refuse interfaces that the type's network cards cannot take.

    Raises InvalidParameterValue, InvalidParameterCombination, AttachmentLimitExceeded.
    """
    network = (hardware.describe_type(instance_type) or {}).get("NetworkInfo", {})
    cards = {int(card["NetworkCardIndex"]): card for card in network.get("NetworkCards", [])}
    places: set[tuple[int, int]] = set()
    for each in given:
        if each.get("DeviceIndex") is None:
            raise AwsError("InvalidParameterValue", "Each network interface requires a device index.")
        place = (int(each.get("NetworkCardIndex") or 0), int(each["DeviceIndex"]))
        if place in places:
            raise AwsError(
                "InvalidParameterCombination",
                f"Network interfaces may not share device index {place[1]} of network card {place[0]}.",
            )
        places.add(place)
        if place[0] not in cards:
            raise AwsError(
                "InvalidParameterValue",
                f"Invalid value '{place[0]}' for NetworkCardIndex: {instance_type} has {len(cards)} network card(s).",
            )
        _check_one(each, count)
    if (0, 0) not in places:
        raise AwsError(
            "InvalidParameterCombination",
            "A network interface on network card 0 with device index 0, the primary one, is required.",
        )
    _check_public_addresses(given)
    _check_cards(given, instance_type, network, cards)


def _check_one(each: Mapping[str, Any], count: int) -> None:
    existing, kind = each.get("NetworkInterfaceId"), each.get("InterfaceType") or "interface"
    if existing:
        if count > 1:
            raise AwsError(
                "InvalidParameterCombination",
                "A network interface ID may be specified only when one instance is launched.",
            )
        for name in ("SubnetId", "Groups", "PrivateIpAddress", "Description", "AssociatePublicIpAddress"):
            if each.get(name):
                raise AwsError(
                    "InvalidParameterCombination",
                    f"A network interface may not specify both a network interface ID and {name}.",
                )
    if each.get("PrivateIpAddress") and count > 1:
        raise AwsError(
            "InvalidParameterCombination", "A private IP address may be specified only when one instance is launched."
        )
    if kind == "efa-only":
        asked = [
            name
            for name in (
                "PrivateIpAddress",
                "PrivateIpAddresses",
                "SecondaryPrivateIpAddressCount",
                "Ipv6AddressCount",
                "Ipv6Addresses",
                "Ipv4Prefixes",
                "Ipv4PrefixCount",
                "Ipv6Prefixes",
                "Ipv6PrefixCount",
                "AssociatePublicIpAddress",
            )
            if each.get(name)
        ]
        if asked:
            raise AwsError(
                "InvalidParameterCombination",
                f"An EFA-only network interface takes no IP address: {', '.join(asked)} may not be specified.",
            )
        if int(each.get("NetworkCardIndex") or 0) == 0 and int(each["DeviceIndex"]) == 0:
            raise AwsError(
                "InvalidParameterCombination",
                "The primary network interface must have an IP address: its type may not be efa-only.",
            )


def _check_public_addresses(given: Sequence[Mapping[str, Any]]) -> None:
    if any(each.get("AssociatePublicIpAddress") for each in given):
        if len(given) > 1:
            raise AwsError(
                "InvalidParameterCombination",
                "The associatePublicIPAddress parameter cannot be specified when launching with multiple network interfaces.",
            )
        if int(given[0].get("DeviceIndex") or 0) != 0:
            raise AwsError(
                "InvalidParameterCombination",
                "The associatePublicIPAddress parameter can only be specified for the network interface with index 0.",
            )


def _check_cards(
    given: Sequence[Mapping[str, Any]],
    instance_type: str,
    network: Mapping[str, Any],
    cards: Mapping[int, Mapping[str, Any]],
) -> None:
    on_card = Counter(int(each.get("NetworkCardIndex") or 0) for each in given)
    efa_on_card = Counter(
        int(each.get("NetworkCardIndex") or 0) for each in given if (each.get("InterfaceType") or "") in EFA_KINDS
    )
    if efa_on_card and not network.get("EfaSupported"):
        raise AwsError(
            "InvalidParameterCombination", f"{instance_type} instances do not support Elastic Fabric Adapters."
        )
    for each in given:
        card, kind = int(each.get("NetworkCardIndex") or 0), each.get("InterfaceType") or "interface"
        kinds = cards[card].get("InterfaceTypes")
        if kinds is not None and int(cards[card].get("MaximumNetworkInterfaces", 0)) > 0 and kind not in kinds:
            raise AwsError(
                "InvalidParameterCombination",
                f"Network card {card} of {instance_type} does not support network interfaces of type {kind}.",
            )
    for card, number in sorted(on_card.items()):
        most = int(cards[card].get("MaximumNetworkInterfaces", 0))
        if number > most:
            raise AwsError(
                "AttachmentLimitExceeded",
                f"Interface count {number} exceeds the limit for {instance_type} on network card {card}: {most}.",
            )
    for card, number in sorted(efa_on_card.items()):
        if number > 1:
            raise AwsError(
                "AttachmentLimitExceeded",
                f"EFA count {number} on network card {card} exceeds the limit: one EFA per network card.",
            )
    most_efa = int((network.get("EfaInfo") or {}).get("MaximumEfaInterfaces") or 0)
    if sum(efa_on_card.values()) > most_efa:
        raise AwsError(
            "AttachmentLimitExceeded",
            f"EFA count {sum(efa_on_card.values())} exceeds the limit for {instance_type}: {most_efa}.",
        )
    most = int(network.get("MaximumNetworkInterfaces") or 0)
    if most and len(given) > most:
        raise AwsError(
            "AttachmentLimitExceeded", f"Interface count {len(given)} exceeds the limit for {instance_type}: {most}."
        )
