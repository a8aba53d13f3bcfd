"""
What EC2 refuses at launch. `check_launch` runs every check over a resolved request (template merged in) and returns what the launch needs.

One function a rule; each names its code in its text and its source in `LAUNCH_SOURCES`, which the docs print.
"""

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.ec2_capacity import find_reservation, zone_names
from gpukit_sandbox.cloud.ec2_interfaces import InterfacePlan, check_interfaces
from gpukit_sandbox.cloud.ec2_placement import find_group
from gpukit_sandbox.cloud.ec2_templates import check_tags, check_user_data
from gpukit_sandbox.cloud.ec2_volumes import VolumePlan, check_volumes
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.state import ACCOUNT_ID, World

MIN_SPOT_PRICE_USD: Final = 0.001
MAX_SPREAD_PER_ZONE: Final = 7
MAX_HOP_LIMIT: Final = 64
DEFAULT_TYPE: Final = "m1.small"

LAUNCH_SOURCES: Final = {
    "image": "EC2 API reference, error codes: InvalidAMIID.*",
    "type and architecture": "EC2 API reference, error codes: InvalidParameterValue; DescribeInstanceTypes",
    "zone offers the type": "EC2 error codes: Unsupported; DescribeInstanceTypeOfferings",
    "network interfaces or instance level": "EC2 API reference, RunInstances: SubnetId, SecurityGroupIds, NetworkInterfaces",
    "security groups": "EC2 error codes: InvalidGroup.NotFound, InvalidParameter, SecurityGroupsPerInterfaceLimitExceeded",
    "placement": "EC2 User Guide, Placement groups, rules and limitations",
    "market": "EC2 API reference, SpotMarketOptions; EC2 User Guide, Capacity Blocks",
    "reservation": "EC2 API reference, CapacityReservationSpecification; EC2 User Guide, Capacity Reservations",
    "metadata": "EC2 API reference, InstanceMetadataOptionsRequest",
    "processor options": "EC2 API reference, CpuOptionsRequest; DescribeInstanceTypes, VCpuInfo",
    "role": "EC2 error codes: InvalidParameterValue (iamInstanceProfile)",
}


@dataclass(slots=True, kw_only=True)
class LaunchPlan:
    """A launch that passed every rule."""

    instance_type: str
    image: Any
    subnet: Any
    """The subnet of the primary interface: it sets the zone."""
    subnets: dict[str, Any]
    interfaces: list[InterfacePlan]
    volumes: list[VolumePlan]
    market: str | None
    reservation_id: str | None
    reservation_group: list[str]
    reservation_preference: str | None
    instance_profile: str | None
    template_tags: dict[str, str] = field(default_factory=dict)


def check_launch(
    world: World, region: str, request: Mapping[str, Any], *, count: int, for_group: bool = False
) -> LaunchPlan:
    """
    Return the plan of a launch. Raises AwsError for the first rule that a request breaks.

    `for_group` is the look that Auto Scaling and EKS take at a template: they bring subnets of their own.
    """
    backend = get_backend("ec2")[ACCOUNT_ID][region]
    image = _check_image(backend, request)
    instance_type = _check_type(request, image)
    check_user_data(request.get("UserData"), code="InvalidParameterValue")
    for specification in request.get("TagSpecifications") or []:
        check_tags(specification.get("Tags") or [])
    _check_level_of_network_settings(request)
    subnet, subnets, interfaces = _check_network(world, backend, region, request, instance_type, count)
    _check_placement(world, region, request, instance_type, subnet, count)
    if subnet.availability_zone not in hardware.zones_offering(region, instance_type):
        offering = ", ".join(sorted(hardware.zones_offering(region, instance_type))) or "none"
        raise AwsError(
            "Unsupported",
            f"Your requested instance type ({instance_type}) is not supported in your requested Availability Zone ({subnet.availability_zone}). Please retry "
            f"your request by not specifying an Availability Zone or choosing {offering}.",
        )
    market = _check_market(request, instance_type)
    reservation_id, group, preference = _check_reservation(world, region, request, instance_type, subnet, market)
    _check_metadata(request)
    _check_processor(request, instance_type)
    if request.get("KeyName") and request["KeyName"] not in backend.key_pairs:
        raise AwsError("InvalidKeyPair.NotFound", f"The key pair '{request['KeyName']}' does not exist")
    reference = request.get("_template")
    return LaunchPlan(
        instance_type=instance_type,
        image=image,
        subnet=subnet,
        subnets=subnets,
        interfaces=interfaces,
        volumes=check_volumes(world, region, request, image, instance_type),
        market=market,
        reservation_id=reservation_id,
        reservation_group=group,
        reservation_preference=preference,
        instance_profile=_check_profile(request),
        template_tags={
            "aws:ec2launchtemplate:id": reference["id"],
            "aws:ec2launchtemplate:version": reference["version"],
        }
        if reference
        else {},
    )


def check_architecture(instance_type: str, image: Any) -> None:
    """Refuse an image for another processor than the type has (InvalidParameterValue)."""
    offered = hardware.architectures(instance_type)
    if image.architecture and image.architecture not in offered:
        raise AwsError(
            "InvalidParameterValue",
            f"The architecture '{','.join(offered)}' of the specified instance type does not match the architecture '{image.architecture}' of the specified "
            "AMI. Specify an instance type and an AMI that have matching architectures, and try again.",
        )


def _check_image(backend: Any, request: Mapping[str, Any]) -> Any:
    identifier = request.get("ImageId")
    if not identifier:
        raise AwsError("MissingParameter", "The request must contain the parameter ImageId")
    return find_image(backend, identifier)


def find_image(backend: Any, identifier: str) -> Any:
    """Return an image that can be launched. Raises InvalidAMIID.{Malformed,NotFound,Unavailable}."""
    if identifier.startswith("resolve:ssm:"):
        from gpukit_sandbox.cloud.images import resolve_parameter

        identifier = resolve_parameter(backend, identifier.removeprefix("resolve:ssm:"))
    if not re.fullmatch(r"ami-[0-9a-f]{8}([0-9a-f]{9})?", identifier):
        raise AwsError("InvalidAMIID.Malformed", f'Invalid id: "{identifier}" (expecting "ami-...")')
    image = backend.amis.get(identifier)
    if image is None:
        raise AwsError("InvalidAMIID.NotFound", f"The image id '[{identifier}]' does not exist")
    if image.state != "available":
        raise AwsError("InvalidAMIID.Unavailable", f"The image '[{identifier}]' is not available for launch")
    return image


def _check_type(request: Mapping[str, Any], image: Any) -> str:
    name = request.get("InstanceType") or DEFAULT_TYPE
    if hardware.describe_type(name) is None:
        raise AwsError("InvalidParameterValue", f"Invalid value '{name}' for InstanceType.")
    check_architecture(name, image)
    return str(name)


def _check_level_of_network_settings(request: Mapping[str, Any]) -> None:
    if not request.get("NetworkInterfaces"):
        return
    if request.get("SecurityGroupIds") or request.get("SecurityGroups"):
        raise AwsError(
            "InvalidParameterCombination",
            "Network interfaces and an instance-level security groups may not be specified on the same request",
        )
    if request.get("SubnetId"):
        raise AwsError(
            "InvalidParameterCombination",
            "Network interfaces and an instance-level subnet ID may not be specified on the same request",
        )
    for name in ("PrivateIpAddress", "Ipv6AddressCount", "Ipv6Addresses"):
        if request.get(name):
            raise AwsError(
                "InvalidParameterCombination",
                f"Network interfaces and an instance-level {name} may not be specified on the same request",
            )


def _check_network(
    world: World, backend: Any, region: str, request: Mapping[str, Any], instance_type: str, count: int
) -> tuple[Any, dict[str, Any], list[InterfacePlan]]:
    given = [dict(each) for each in request.get("NetworkInterfaces") or []]
    if not given:
        groups = list(request.get("SecurityGroupIds") or [])
        for name in request.get("SecurityGroups") or []:
            groups.append(_group_by_name(backend, name))
        given = [{"DeviceIndex": 0, "SubnetId": request.get("SubnetId"), "Groups": groups}]
        if request.get("PrivateIpAddress"):
            given[0]["PrivateIpAddress"] = request["PrivateIpAddress"]
    check_interfaces(given, instance_type, count)
    subnets: dict[str, Any] = {}
    plans: list[InterfacePlan] = []
    limit = int(quota(world, region, "vpc", "sg-per-eni"))
    for each in sorted(
        given, key=lambda one: (int(one.get("NetworkCardIndex") or 0), int(one.get("DeviceIndex") or 0))
    ):
        if each.get("NetworkInterfaceId"):
            existing = backend.enis.get(each["NetworkInterfaceId"])
            if existing is None:
                raise AwsError(
                    "InvalidNetworkInterfaceID.NotFound",
                    f"The networkInterface ID '{each['NetworkInterfaceId']}' does not exist",
                )
            if existing.status != "available":
                raise AwsError("InvalidNetworkInterface.InUse", f"Interface: [{existing.id}] in use.")
            subnets[existing.subnet.id] = existing.subnet
            existing.network_card_index, existing.device_index = (
                int(each.get("NetworkCardIndex") or 0),
                int(each.get("DeviceIndex") or 0),
            )
            plans.append(
                InterfacePlan(
                    settings=each,
                    subnet_id=existing.subnet.id,
                    groups=list(existing.group_set),
                    kind="interface",
                    existing=existing,
                )
            )
            continue
        subnet = _subnet(backend, region, each.get("SubnetId"), request)
        subnets[subnet.id] = subnet
        groups = [_group(backend, subnet, identifier) for identifier in each.get("Groups") or []]
        if len(groups) > limit:
            raise AwsError(
                "SecurityGroupsPerInterfaceLimitExceeded",
                f"The maximum number of security groups per interface is {limit}.",
            )
        if not groups:
            default = backend.get_default_security_group(subnet.vpc_id)
            groups = [default] if default else []
        if each.get("PrivateIpAddress"):
            _check_address(backend, subnet, each["PrivateIpAddress"])
        settings = dict(each)
        if (
            settings.get("AssociatePublicIpAddress") is None
            and len(given) == 1
            and str(subnet.map_public_ip_on_launch).lower() == "true"
        ):
            settings["AssociatePublicIpAddress"] = True
        plans.append(
            InterfacePlan(
                settings=settings, subnet_id=subnet.id, groups=groups, kind=each.get("InterfaceType") or "interface"
            )
        )
    if len({subnet.availability_zone for subnet in subnets.values()}) > 1:
        raise AwsError("InvalidParameterCombination", "The network interfaces must be in the same Availability Zone.")
    if len({subnet.vpc_id for subnet in subnets.values()}) > 1:
        raise AwsError("InvalidParameterCombination", "The network interfaces must be in the same VPC.")
    return subnets[plans[0].subnet_id], subnets, plans


def _subnet(backend: Any, region: str, identifier: str | None, request: Mapping[str, Any]) -> Any:
    if identifier:
        return find_subnet(backend, identifier)
    zone = (request.get("Placement") or {}).get("AvailabilityZone")
    defaults = [
        each
        for zones in backend.subnets.values()
        for each in zones.values()
        if str(each.default_for_az).lower() == "true"
    ]
    for subnet in sorted(defaults, key=lambda each: each.availability_zone):
        offered = subnet.availability_zone in hardware.zones_offering(
            region, request.get("InstanceType") or DEFAULT_TYPE
        )
        if subnet.availability_zone == zone or (zone is None and offered):
            return subnet
    if zone is None and defaults:
        return defaults[0]
    if zone is not None and zone not in zone_names(region):
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
    raise AwsError("MissingInput", "No subnets found for the default VPC. Please specify a subnet.")


def find_subnet(backend: Any, identifier: str) -> Any:
    """Return a subnet. Raises InvalidSubnetID.NotFound."""
    for zones in backend.subnets.values():
        if identifier in zones:
            return zones[identifier]
    raise AwsError("InvalidSubnetID.NotFound", f"The subnet ID '{identifier}' does not exist")


def _group(backend: Any, subnet: Any, identifier: str) -> Any:
    if not identifier.startswith("sg-"):
        raise AwsError("InvalidGroupId.Malformed", f'Invalid id: "{identifier}" (expecting "sg-...")')
    group = backend.get_security_group_from_id(identifier)
    if group is None:
        raise AwsError("InvalidGroup.NotFound", f"The security group '{identifier}' does not exist")
    if group.vpc_id != subnet.vpc_id:
        raise AwsError(
            "InvalidParameter", f"Security group {identifier} and subnet {subnet.id} belong to different networks."
        )
    return group


def _group_by_name(backend: Any, name: str) -> str:
    vpc = backend.get_default_vpc()
    for group in backend.groups.get(vpc.id if vpc else None, {}).values():
        if group.name == name:
            return str(group.id)
    raise AwsError("InvalidGroup.NotFound", f"The security group '{name}' does not exist in default VPC")


def _check_address(backend: Any, subnet: Any, address: str) -> None:
    from gpukit_sandbox.cloud.ec2_instances import taken_addresses

    network = ipaddress.ip_network(subnet.cidr_block)
    try:
        inside = ipaddress.ip_address(address) in network
    except ValueError as problem:
        raise AwsError("InvalidParameterValue", f"Invalid value '{address}' for PrivateIpAddress.") from problem
    first = int(network.network_address)
    if not inside:
        raise AwsError("InvalidParameterValue", f"Address {address} does not fall within the subnet's address range")
    if int(ipaddress.ip_address(address)) - first < 4 or ipaddress.ip_address(address) == network.broadcast_address:
        raise AwsError("InvalidParameterValue", f"Address {address} is in subnet's reserved address range")
    if address in taken_addresses(backend, subnet):
        raise AwsError("InvalidIPAddress.InUse", f"Address {address} is in use.")


def _check_placement(
    world: World, region: str, request: Mapping[str, Any], instance_type: str, subnet: Any, count: int
) -> None:
    from gpukit_sandbox.cloud.ec2_launches import live_instances

    placement = request.get("Placement")
    if not placement:
        return
    zone = placement.get("AvailabilityZone")
    if zone and zone not in zone_names(region):
        raise AwsError("InvalidParameterValue", f"Invalid availability zone: [{zone}]")
    if zone and zone != subnet.availability_zone:
        raise AwsError(
            "InvalidParameterValue",
            f"The availability zone '{zone}' does not match the subnet's availability zone '{subnet.availability_zone}'.",
        )
    if placement.get("GroupName") and placement.get("GroupId"):
        raise AwsError(
            "InvalidParameterCombination", "Only one of placement group name and placement group ID may be specified."
        )
    wanted = placement.get("GroupName") or placement.get("GroupId")
    if placement.get("HostId") and placement.get("Tenancy") not in (None, "host"):
        raise AwsError("InvalidParameterCombination", "HostId requires tenancy host.")
    if not wanted:
        if placement.get("PartitionNumber"):
            raise AwsError(
                "InvalidParameterCombination", "A partition number is valid only with a partition placement group."
            )
        return
    group = find_group(world, region, wanted)
    placement["GroupName"] = group["GroupName"]
    strategies = (
        (hardware.describe_type(instance_type) or {}).get("PlacementGroupInfo", {}).get("SupportedStrategies", [])
    )
    if group["Strategy"] not in strategies:
        raise AwsError(
            "InvalidParameterCombination",
            f"{group['Strategy'].capitalize()} placement groups are not supported by the '{instance_type}' instance type.",
        )
    number = placement.get("PartitionNumber")
    if number is not None:
        if group["Strategy"] != "partition":
            raise AwsError(
                "InvalidParameterCombination", "A partition number is valid only with a partition placement group."
            )
        if not 1 <= int(number) <= group["PartitionCount"]:
            raise AwsError(
                "InvalidParameterValue", f"The partition number must be between 1 and {group['PartitionCount']}."
            )
    members = [each for each in live_instances(region) if getattr(each, "placement_group", "") == group["GroupName"]]
    if group["Strategy"] == "spread":
        if placement.get("Tenancy") in ("dedicated", "host"):
            raise AwsError("InvalidParameterCombination", "Spread placement groups do not support dedicated tenancy.")
        if (
            sum(1 for each in members if each.availability_zone == subnet.availability_zone) + count
            > MAX_SPREAD_PER_ZONE
        ):
            raise AwsError(
                "InsufficientInstanceCapacity",
                f"We currently do not have sufficient capacity to launch all of the additional requested instances into placement group '{group['GroupName']}': "
                f"{MAX_SPREAD_PER_ZONE} running instances per Availability Zone is the most.",
            )
    if group["Strategy"] == "cluster" and any(each.availability_zone != subnet.availability_zone for each in members):
        raise AwsError(
            "InvalidParameterCombination",
            f"Placement group '{group['GroupName']}' has instances in another Availability Zone; a cluster group is in one.",
        )


def _check_market(request: Mapping[str, Any], instance_type: str) -> str | None:
    options = request.get("InstanceMarketOptions") or {}
    market, spot = options.get("MarketType"), options.get("SpotOptions") or {}
    usage = (hardware.describe_type(instance_type) or {}).get("SupportedUsageClasses", [])
    if not market:
        if spot:
            raise AwsError(
                "MissingParameter", "The request must contain the parameter MarketType when SpotOptions is given."
            )
        return None
    if market == "capacity-block":
        if spot:
            raise AwsError("InvalidParameterCombination", "SpotOptions are valid only with the market type spot.")
        if "capacity-block" not in usage:
            raise AwsError(
                "InvalidParameterValue", f"The instance type {instance_type} is not offered in Capacity Blocks."
            )
        return "capacity-block"
    if market != "spot":
        return None if market == "on-demand" else str(market)
    if "spot" not in usage:
        raise AwsError(
            "InvalidParameterValue", f"The instance type {instance_type} is not supported for Spot Instances."
        )
    _check_spot(spot)
    if (request.get("Placement") or {}).get("Tenancy") == "host":
        raise AwsError("InvalidParameterCombination", "Spot Instances do not support host tenancy.")
    return "spot"


def _check_spot(spot: Mapping[str, Any]) -> None:
    price = spot.get("MaxPrice")
    if price is not None:
        try:
            value = float(price)
        except ValueError as problem:
            raise AwsError("InvalidParameterValue", f"Invalid value '{price}' for MaxPrice.") from problem
        if value < MIN_SPOT_PRICE_USD:
            raise AwsError(
                "InvalidParameterValue",
                f"The maximum price {price} is below the least allowed, {MIN_SPOT_PRICE_USD} USD.",
            )
    kind, behavior = spot.get("SpotInstanceType") or "one-time", spot.get("InstanceInterruptionBehavior") or "terminate"
    if kind == "persistent" and behavior == "terminate":
        raise AwsError(
            "InvalidParameterCombination",
            "A persistent Spot request needs the interruption behavior stop or hibernate.",
        )
    if kind == "one-time" and behavior in ("stop", "hibernate"):
        raise AwsError(
            "InvalidParameterCombination", f"The interruption behavior {behavior} needs a persistent Spot request."
        )
    if spot.get("ValidUntil") is not None and kind != "persistent":
        raise AwsError("InvalidParameterCombination", "ValidUntil is supported only for persistent Spot requests.")
    if spot.get("BlockDurationMinutes") is not None:
        raise AwsError("InvalidParameterValue", "BlockDurationMinutes is no longer supported.")


def _check_reservation(
    world: World, region: str, request: Mapping[str, Any], instance_type: str, subnet: Any, market: str | None
) -> tuple[str | None, list[str], str | None]:
    specification = request.get("CapacityReservationSpecification") or {}
    preference, target = (
        specification.get("CapacityReservationPreference"),
        specification.get("CapacityReservationTarget") or {},
    )
    identifier, group_arn = target.get("CapacityReservationId"), target.get("CapacityReservationResourceGroupArn")
    if target and preference not in (None, "capacity-reservations-only"):
        raise AwsError(
            "InvalidParameterCombination",
            "CapacityReservationPreference and CapacityReservationTarget may be specified together only with the preference capacity-reservations-only.",
        )
    if identifier and group_arn:
        raise AwsError(
            "InvalidParameterCombination", "Specify either a Capacity Reservation ID or a resource group ARN, not both."
        )
    if target and not identifier and not group_arn:
        raise AwsError(
            "MissingParameter", "CapacityReservationTarget needs a Capacity Reservation ID or a resource group ARN."
        )
    if market == "capacity-block" and not identifier and not group_arn:
        raise AwsError(
            "InvalidParameterCombination",
            "A launch with the market type capacity-block must name the Capacity Block's reservation.",
        )
    if market == "spot" and (target or preference == "capacity-reservations-only"):
        raise AwsError("InvalidParameterCombination", "Spot Instances cannot be launched into a Capacity Reservation.")
    if group_arn:
        from gpukit_sandbox.cloud.resource_groups import reservations_of_group

        members = reservations_of_group(world, region, group_arn)
        return None, members, preference
    if not identifier:
        return None, [], preference
    record = find_reservation(world, region, identifier)
    is_block = record["ReservationType"] == "capacity-block"
    if is_block and market != "capacity-block":
        raise AwsError(
            "InvalidParameterValue",
            f"The Capacity Reservation {identifier} is a Capacity Block: specify the market type capacity-block.",
        )
    if not is_block and market == "capacity-block":
        raise AwsError("InvalidParameterValue", f"The Capacity Reservation {identifier} is not a Capacity Block.")
    if record["State"] != "active":
        raise AwsError(
            "InvalidCapacityReservationState",
            f"The Capacity Reservation {identifier} is {record['State']}, not active.",
        )
    group_name = (request.get("Placement") or {}).get("GroupName")
    if is_block and group_name:
        raise AwsError("InvalidParameterCombination", "Placement groups are not supported with Capacity Blocks.")
    tenancy = (request.get("Placement") or {}).get("Tenancy") or "default"
    group = find_group(world, region, group_name)["GroupArn"] if group_name else None
    differences = [
        name
        for name, reserved, asked in (
            ("instance type", record["InstanceType"], instance_type),
            ("Availability Zone", record["AvailabilityZone"], subnet.availability_zone),
            ("tenancy", record["Tenancy"], tenancy),
            ("placement group", record.get("PlacementGroupArn") or group, group),
        )
        if reserved != asked
    ]
    if differences:
        raise AwsError(
            "ReservationCapacityExceeded",
            f"The requested reservation does not have sufficient compatible and available capacity for this request ({', '.join(differences)} differ).",
        )
    return identifier, [], preference


def _check_metadata(request: Mapping[str, Any]) -> None:
    options = request.get("MetadataOptions") or {}
    hops = options.get("HttpPutResponseHopLimit")
    if hops is not None and not 1 <= int(hops) <= MAX_HOP_LIMIT:
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({hops}) for parameter HttpPutResponseHopLimit is invalid: it must be between 1 and {MAX_HOP_LIMIT}.",
        )
    if options.get("HttpEndpoint") == "disabled" and any(
        options.get(name) for name in ("HttpTokens", "HttpPutResponseHopLimit")
    ):
        raise AwsError(
            "InvalidParameterCombination",
            "HttpTokens and HttpPutResponseHopLimit need the metadata endpoint to be enabled.",
        )


def _check_processor(request: Mapping[str, Any], instance_type: str) -> None:
    options, known = request.get("CpuOptions") or {}, (hardware.describe_type(instance_type) or {}).get("VCpuInfo", {})
    cores, threads = options.get("CoreCount"), options.get("ThreadsPerCore")
    if cores is None and threads is None:
        return
    if cores is None or threads is None:
        raise AwsError("InvalidParameterCombination", "CpuOptions needs both CoreCount and ThreadsPerCore.")
    if known.get("ValidCores") and int(cores) not in known["ValidCores"]:
        raise AwsError(
            "InvalidParameterValue",
            f"Invalid value '{cores}' for CoreCount: {instance_type} takes {known['ValidCores']}.",
        )
    if known.get("ValidThreadsPerCore") and int(threads) not in known["ValidThreadsPerCore"]:
        raise AwsError(
            "InvalidParameterValue",
            f"Invalid value '{threads}' for ThreadsPerCore: {instance_type} takes {known['ValidThreadsPerCore']}.",
        )


def _check_profile(request: Mapping[str, Any]) -> str | None:
    profile = request.get("IamInstanceProfile") or {}
    if not profile:
        return None
    if profile.get("Arn") and profile.get("Name"):
        raise AwsError(
            "InvalidParameterCombination",
            "The parameter 'iamInstanceProfile.name' may not be used in combination with 'iamInstanceProfile.arn'",
        )
    for each in get_backend("iam")[ACCOUNT_ID]["aws"].instance_profiles.values():
        if each.name == profile.get("Name") or each.arn == profile.get("Arn"):
            return str(each.arn)
    if profile.get("Name"):
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({profile['Name']}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name",
        )
    raise AwsError(
        "InvalidParameterValue",
        f"Value ({profile.get('Arn')}) for parameter iamInstanceProfile.arn is invalid. Invalid IAM Instance Profile ARN",
    )
