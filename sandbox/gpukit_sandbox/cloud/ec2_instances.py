"""Instances and their network interfaces as moto keeps them, made cheaply: a node has 16 or 32 interfaces, a cluster has thousands."""

import contextlib
import ipaddress
import random
from collections.abc import Iterator, Mapping
from typing import Any

from moto.core.utils import utcnow
from moto.ec2.models.block_device import BlockDeviceMapping
from moto.ec2.models.elastic_network_interfaces import NetworkInterface
from moto.ec2.models.instances import Instance, InstancePlacement, InstanceState, MetadataOptions, StateReason
from moto.ec2.utils import random_public_ip

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.state import new_id


class Attachment:
    """What DescribeNetworkInterfaces says of an attachment, with the network card that moto leaves out."""

    def __init__(self, interface: "CardInterface") -> None:
        """Describe the attachment of an interface that is attached."""
        self.attach_time = interface.attach_time
        self.attachment_id = interface.attachment_id
        self.delete_on_termination = bool(interface.delete_on_termination)
        self.device_index = interface.device_index
        self.network_card_index = interface.network_card_index
        self.instance_id = interface.instance.id if interface.instance else None
        self.instance_owner_id = interface.instance.owner_id if interface.instance else None
        self.status = "attached"


class CardInterface(NetworkInterface):
    """A network interface on a network card; an `efa-only` one has no address."""

    def __init__(
        self,
        backend: Any,
        subnet: Any,
        *,
        address: str | None,
        groups: list[Any],
        settings: Mapping[str, Any],
        hostnames: bool,
    ) -> None:
        """Make the interface with the settings of a request; moto's own constructor is too slow for thousands."""
        self.ec2_backend = backend
        self.id = new_id("eni")
        self.device_index = int(settings.get("DeviceIndex") or 0)
        self.network_card_index = int(settings.get("NetworkCardIndex") or 0)
        self.interface_type = settings.get("InterfaceType") or "interface"
        self.private_ip_address = address
        self.private_ip_addresses = [{"Primary": True, "PrivateIpAddress": address}] if address else []
        self.ipv6_addresses = []
        self.subnet = subnet
        self.instance = None
        self.attachment_id = None
        self.attach_time = None
        self.delete_on_termination = settings.get("DeleteOnTermination", True)
        self.description = settings.get("Description") or ""
        self.source_dest_check = True
        self.public_ip = None
        self.public_ip_auto_assign = bool(settings.get("AssociatePublicIpAddress"))
        if self.public_ip_auto_assign:
            self.public_ip = random_public_ip()
        self.requester_managed = False
        self.requester_id = ""
        self.status = "available"
        self.mac_address = "02:" + ":".join(f"{random.getrandbits(8):02x}" for _ in range(5))
        self._group_set = groups
        if hostnames and address:
            self.private_dns_name = f"ip-{address.replace('.', '-')}.ec2.internal"
            self.private_ip_addresses[0]["PrivateDnsName"] = self.private_dns_name

    @property
    def attachment(self) -> Any:
        """The attachment; None while it is attached to nothing."""
        return Attachment(self) if self.attachment_id else None

    @property
    def group_set(self) -> Any:
        """The groups of this interface alone: moto adds those of its instance, AWS does not."""
        return self._group_set

    def delete(self) -> None:
        """Forget the interface; its address is free again because nothing holds it."""
        self.ec2_backend.enis.pop(self.id, None)


class CloudInstance(Instance):
    """An instance whose interfaces are told apart by card and device, and that knows its reservation and placement group."""

    def __init__(self, backend: Any, *, request: Mapping[str, Any], image: Any, subnet: Any, launch_index: int) -> None:
        """Make a running instance without interfaces and volumes."""
        self.ec2_backend = backend
        self.id = new_id("i")
        self.owner_id = backend.account_id
        self.client_token = request.get("ClientToken")
        market = (request.get("InstanceMarketOptions") or {}).get("MarketType")
        self.lifecycle = market
        self.hypervisor = "xen"
        self.kernel = None
        self.ramdisk = None
        self.product_codes = []
        self.image_id = image.id
        self._state = InstanceState("running", 16)
        self._reason = ""
        self.state_reason = StateReason()
        self.user_data = request.get("UserData")
        self.security_groups = []
        self.instance_type = request["InstanceType"]
        self.region_name = backend.region_name
        placement = request.get("Placement") or {}
        self._placement = InstancePlacement(subnet.availability_zone)
        self._placement.group_name = placement.get("GroupName") or ""
        self._placement.tenancy = placement.get("Tenancy") or "default"
        if placement.get("PartitionNumber"):
            self._placement.partition_number = placement["PartitionNumber"]
        self.placement_group = self._placement.group_name
        self._subnet_id = subnet.id
        self.key_name = request.get("KeyName")
        self.ebs_optimized = bool(request.get("EbsOptimized"))
        self.monitoring_state = "enabled" if (request.get("Monitoring") or {}).get("Enabled") else "disabled"
        self.source_dest_check = True
        self.launch_time = utcnow()
        self.ami_launch_index = launch_index
        self.disable_api_termination = bool(request.get("DisableApiTermination"))
        self.disable_api_stop = bool(request.get("DisableApiStop"))
        self.instance_initiated_shutdown_behavior = request.get("InstanceInitiatedShutdownBehavior") or "stop"
        self.hibernation_options = request.get("HibernationOptions")
        self.sriov_net_support = "simple"
        self._spot_fleet_id = None
        self._fleet_id = None
        self.associate_public_ip = False
        self.platform = image.platform
        self.virtualization_type = image.virtualization_type or "hvm"
        self.architecture = image.architecture
        self.root_device_name = image.root_device_name
        self.root_device_type = "ebs"
        self.iam_instance_profile = None
        self.kernel_id = image.kernel_id
        self.metadata_options = MetadataOptions(dict(request.get("MetadataOptions") or {}))
        self.block_device_mapping = BlockDeviceMapping()
        self._private_ips = set()
        self.nics: dict[int, Any] = {}
        self.capacity_reservation_id = None
        self.capacity_reservation_specification = _shown_specification(request.get("CapacityReservationSpecification"))
        self.cpu_options = request.get("CpuOptions")
        self.ena_support = True

    @property
    def instance_lifecycle(self) -> str | None:
        """`spot`, `capacity-block`, or nothing for an on-demand instance."""
        return self.lifecycle

    def __del__(self) -> None:
        """Hold nothing back: addresses are free once no interface has them."""

    def attach(self, interface: CardInterface) -> None:
        """Attach an interface at launch, in the order of the request."""
        self.nics[len(self.nics)] = interface
        interface.instance = self
        interface.attachment_id = new_id("eni-attach")
        interface.attach_time = self.launch_time
        interface.status = "in-use"

    def attach_eni(self, eni: Any, device_index: int) -> str:
        """Attach an interface to a running instance."""
        self.nics[max(self.nics, default=-1) + 1] = eni
        eni.instance = self
        eni.attachment_id = new_id("eni-attach")
        eni.attach_time = utcnow()
        eni.status = "in-use"
        eni.device_index = int(device_index)
        return str(eni.attachment_id)

    def detach_eni(self, eni: Any) -> None:
        """Detach an interface."""
        self.nics = {place: each for place, each in self.nics.items() if each.id != eni.id}
        eni.instance = None
        eni.attachment_id = None
        eni.attach_time = None
        eni.status = "available"
        eni.device_index = None

    def terminate(self) -> Any:
        """End the instance: its interfaces and volumes go unless told otherwise, and its place in a reservation is free."""
        if self._state.name == "terminated":
            return InstanceState("terminated", 48)
        for interface in list(self.nics.values()):
            interface.stop()
            for address in self.ec2_backend.addresses:
                if address.eni is interface or address.instance is self:
                    address.eni = address.instance = address.association_id = None
            if interface.delete_on_termination:
                interface.delete()
            else:
                self.detach_eni(interface)
        previous = InstanceState(self._state.name, self._state.code)
        for path in list(self.block_device_mapping.keys()):
            volume = self.block_device_mapping[path]
            self.ec2_backend.detach_volume(volume.volume_id, self.id, path)
            if volume.delete_on_termination:
                self.ec2_backend.delete_volume(volume.volume_id)
        with contextlib.suppress(KeyError):
            del self.ec2_backend.iam_instance_profile_associations[self.id]
        self._state = InstanceState("terminated", 48)
        self._reason = f"User initiated ({utcnow():%Y-%m-%d %H:%M:%S GMT})"
        self.state_reason = StateReason(
            "Client.UserInitiatedShutdown: User initiated shutdown", "Client.UserInitiatedShutdown"
        )
        self.terminated_at = utcnow()
        self.nics = {}
        return previous

    @property
    def private_ip(self) -> str | None:
        """The primary address; none once terminated."""
        return self.nics[0].private_ip_address if self.nics else None

    @property
    def private_ip_address(self) -> str | None:
        """The primary address; none once terminated."""
        return self.private_ip

    @property
    def public_ip(self) -> str | None:
        """The public address of the primary interface."""
        return self.nics[0].public_ip if self.nics else None

    @property
    def public_ip_address(self) -> str | None:
        """The public address of the primary interface."""
        return self.public_ip

    @property
    def private_dns_name(self) -> str:
        """The private host name; empty once terminated."""
        if not self.private_ip:
            return ""
        suffix = "ec2.internal" if self.region_name == "us-east-1" else f"{self.region_name}.compute.internal"
        return f"ip-{self.private_ip.replace('.', '-')}.{suffix}"


def free_addresses(backend: Any, subnet: Any) -> Iterator[str]:
    """
    Yield the free addresses of a subnet in order: without AWS's own five, and without what any interface holds.

    Ends when the subnet is full; `require_address` turns that into AWS's error.
    """
    network = ipaddress.ip_network(subnet.cidr_block)
    taken = taken_addresses(backend, subnet)
    first, last = int(network.network_address) + 4, int(network.broadcast_address)
    for number in range(first, last):
        address = str(ipaddress.ip_address(number))
        if address not in taken:
            yield address


def taken_addresses(backend: Any, subnet: Any) -> set[str]:
    """Return the addresses of a subnet that interfaces hold."""
    return {
        address["PrivateIpAddress"]
        for interface in backend.enis.values()
        if interface.subnet.id == subnet.id
        for address in interface.private_ip_addresses
    }


def count_free_addresses(backend: Any, subnet: Any) -> int:
    """Return how many addresses of a subnet are free."""
    return int(ipaddress.ip_network(subnet.cidr_block).num_addresses) - 5 - len(taken_addresses(backend, subnet))


def require_address(addresses: Iterator[str], subnet: Any) -> str:
    """Return the next free address. Raises InsufficientFreeAddressesInSubnet."""
    address = next(addresses, None)
    if address is None:
        raise AwsError(
            "InsufficientFreeAddressesInSubnet",
            f"There are not enough free addresses in subnet '{subnet.id}' to satisfy the requested number of instances.",
        )
    return address


def _shown_specification(specification: Mapping[str, Any] | None) -> dict[str, Any]:
    if not specification:
        return {"CapacityReservationPreference": "open"}
    return {key: value for key, value in specification.items() if value}
