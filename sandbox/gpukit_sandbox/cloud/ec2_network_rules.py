"""AWS's own rules on VPCs: what a range may be, what hangs on what, and the order in which things go."""

import ipaddress
import re
from collections.abc import Iterator
from typing import Any, Final

from gpukit_sandbox.cloud.ec2_capacity import zone_ids, zone_names
from gpukit_sandbox.cloud.ec2_launch_rules import find_subnet
from gpukit_sandbox.cloud.ec2_launches import backend_of
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall

_VPC_DOC: Final = "VPC User Guide, VPC CIDR blocks and subnet sizing; EC2 API reference, error codes"
_ORDER_DOC: Final = "VPC User Guide, delete your VPC; EC2 API reference, error code DependencyViolation"
_PRIVATE: Final = {
    name: ipaddress.ip_network(name) for name in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "198.19.0.0/16")
}
_NEVER: Final = tuple(
    ipaddress.ip_network(each) for each in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/4", "240.0.0.0/4")
)


def parse_block(text: str, name: str) -> ipaddress.IPv4Network:
    """Return an IPv4 range, host bits cleared as EC2 does. Raises InvalidParameterValue."""
    try:
        return ipaddress.IPv4Network(text, strict=False)
    except ValueError as problem:
        raise AwsError(
            "InvalidParameterValue", f"Value ({text}) for parameter {name} is invalid. This is not a valid CIDR block."
        ) from problem


def find_vpc(call: ApiCall, identifier: str | None) -> Any:
    """Return a VPC. Raises InvalidVpcID.NotFound."""
    vpc = backend_of(call.region).vpcs.get(identifier)
    if vpc is None:
        raise AwsError("InvalidVpcID.NotFound", f"The vpc ID '{identifier}' does not exist")
    return vpc


def ranges_of(vpc: Any) -> list[ipaddress.IPv4Network]:
    """Return the IPv4 ranges of a VPC."""
    return [ipaddress.IPv4Network(each["cidr_block"]) for each in vpc.get_cidr_block_association_set()]


def _check_vpc_block(block: ipaddress.IPv4Network) -> None:
    if not 16 <= block.prefixlen <= 28:
        raise AwsError("InvalidVpc.Range", f"The CIDR '{block}' is invalid: a VPC takes /16 to /28.")
    if any(block.overlaps(each) for each in _NEVER):
        raise AwsError("InvalidVpc.Range", f"The CIDR '{block}' is invalid: it is reserved.")


@rule("ec2", "CreateVpc", source=_VPC_DOC)
def vpc_range_is_valid(call: ApiCall) -> None:
    """/16 to /28; any address space but the reserved ones, CGNAT included; within the quota."""
    block = call.params.get("CidrBlock")
    if not block and not call.params.get("Ipv4IpamPoolId"):
        raise AwsError("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.")
    if block:
        _check_vpc_block(parse_block(block, "cidrBlock"))
    if len(backend_of(call.region).vpcs) >= quota(call.world, call.region, "vpc", "vpcs"):
        raise AwsError("VpcLimitExceeded", "The maximum number of VPCs has been reached.")


@rule("ec2", "AssociateVpcCidrBlock", source="VPC User Guide, IPv4 VPC CIDR blocks, association restrictions")
def added_range_is_allowed(call: ApiCall) -> None:
    """/16 to /28, no overlap, at most five, and no other private space than the one that the VPC began with."""
    if not call.params.get("CidrBlock"):
        return
    vpc, block = find_vpc(call, call.params.get("VpcId")), parse_block(call.params["CidrBlock"], "cidrBlock")
    _check_vpc_block(block)
    standing = ranges_of(vpc)
    if any(block.overlaps(each) for each in standing):
        raise AwsError("InvalidVpc.Conflict", f"The CIDR '{block}' conflicts with another of the VPC.")
    if len(standing) >= quota(call.world, call.region, "vpc", "cidr-blocks"):
        raise AwsError(
            "VpcCidrBlockLimitExceeded", "The maximum number of IPv4 CIDR blocks of this VPC has been reached."
        )
    home = next((name for name, space in _PRIVATE.items() if standing[0].subnet_of(space)), None)
    wanted = next((name for name, space in _PRIVATE.items() if block.overlaps(space)), None)
    if wanted is not None and wanted != home:
        raise AwsError(
            "InvalidVpc.Range",
            f"The CIDR '{block}' is restricted. Use a CIDR from the same private address range as the current VPC CIDR, or use a publicly-routable CIDR.",
        )


@rule("ec2", "CreateSubnet", source=_VPC_DOC)
def subnet_range_is_valid(call: ApiCall) -> None:
    """/16 to /28, inside the VPC, apart from its other subnets, in a zone of the Region."""
    params = call.params
    vpc = find_vpc(call, params.get("VpcId"))
    if params.get("AvailabilityZone") and params["AvailabilityZone"] not in zone_names(call.region):
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({params['AvailabilityZone']}) for parameter availabilityZone is invalid. Subnets can currently only be created in the following availability zones: {', '.join(sorted(zone_names(call.region)))}.",
        )
    if params.get("AvailabilityZoneId") and params["AvailabilityZoneId"] not in zone_ids(call.region):
        raise AwsError(
            "InvalidParameterValue",
            f"Value ({params['AvailabilityZoneId']}) for parameter availabilityZoneId is invalid. Subnets can currently only be created in the following availability zones: {', '.join(sorted(zone_ids(call.region)))}.",
        )
    if not params.get("CidrBlock"):
        if not params.get("Ipv6Native") and not params.get("Ipv4IpamPoolId"):
            raise AwsError("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.")
        return
    block = parse_block(params["CidrBlock"], "cidrBlock")
    if not 16 <= block.prefixlen <= 28 or not any(block.subnet_of(each) for each in ranges_of(vpc)):
        raise AwsError("InvalidSubnet.Range", f"The CIDR '{params['CidrBlock']}' is invalid.")
    siblings = [each for each in _subnets(call) if each.vpc_id == vpc.id]
    if any(each.cidr_block and block.overlaps(ipaddress.IPv4Network(each.cidr_block)) for each in siblings):
        raise AwsError("InvalidSubnet.Conflict", f"The CIDR '{params['CidrBlock']}' conflicts with another subnet")
    if len(siblings) >= quota(call.world, call.region, "vpc", "subnets"):
        raise AwsError("SubnetLimitExceeded", "The maximum number of subnets of this VPC has been reached.")


@rule("ec2", "DeleteVpc", source=_ORDER_DOC)
def vpc_is_empty(call: ApiCall) -> None:
    """Subnets, interfaces, groups, gateways, endpoints, route tables and network ACLs go first."""
    vpc = find_vpc(call, call.params.get("VpcId"))
    backend = backend_of(call.region)
    holding = [each.id for each in _subnets(call) if each.vpc_id == vpc.id]
    holding += [each.id for each in backend.enis.values() if each.subnet.vpc_id == vpc.id]
    holding += [each.id for each in backend.groups.get(vpc.id, {}).values() if each.name != "default"]
    holding += [
        each.id for each in backend.internet_gateways.values() if each.vpc is not None and each.vpc.id == vpc.id
    ]
    holding += [
        each.id
        for each in backend.nat_gateways.values()
        if each.vpc_id == vpc.id and each.state not in ("deleted", "failed")
    ]
    holding += [
        each.id for each in backend.vpc_end_points.values() if each.vpc_id == vpc.id and each.state != "deleted"
    ]
    holding += [each.id for each in backend.route_tables.values() if each.vpc_id == vpc.id and not _is_main(each)]
    holding += [
        each.id
        for each in backend.network_acls.values()
        if each.vpc_id == vpc.id and str(each.default).lower() != "true"
    ]
    if holding:
        raise AwsError(
            "DependencyViolation",
            f"The vpc '{vpc.id}' has dependencies and cannot be deleted. ({', '.join(holding[:5])})",
        )


@rule("ec2", "DeleteSubnet", source=_ORDER_DOC)
def subnet_has_no_interface(call: ApiCall) -> None:
    """A network interface of an instance, file system, mount target, endpoint, NAT gateway or cluster keeps its subnet."""
    subnet = find_subnet(backend_of(call.region), call.params.get("SubnetId") or "")
    if any(each.subnet.id == subnet.id for each in backend_of(call.region).enis.values()):
        raise AwsError("DependencyViolation", f"The subnet '{subnet.id}' has dependencies and cannot be deleted.")


@rule("ec2", "DeleteSecurityGroup", source=_ORDER_DOC)
def security_group_is_unused(call: ApiCall) -> None:
    """No interface has the group, no other group names it in a rule, and it is not the VPC's default group."""
    backend = backend_of(call.region)
    identifier = call.params.get("GroupId")
    if not identifier:
        if not call.params.get("GroupName"):
            raise AwsError("MissingParameter", "The request must contain the parameter groupName or groupId")
        return
    if not identifier.startswith("sg-"):
        raise AwsError("InvalidGroupId.Malformed", f'Invalid id: "{identifier}" (expecting "sg-...")')
    group = backend.get_security_group_from_id(identifier)
    if group is None:
        raise AwsError("InvalidGroup.NotFound", f"The security group '{identifier}' does not exist")
    if group.name == "default":
        raise AwsError(
            "CannotDelete", f'the specified group: "{identifier}" name: "default" cannot be deleted by a user'
        )
    if any(identifier in {each.id for each in interface.group_set} for interface in backend.enis.values()):
        raise AwsError("DependencyViolation", f"resource {identifier} has a dependent object")
    for other in backend.groups.get(group.vpc_id, {}).values():
        if other.id != identifier and any(
            identifier == _source(each) for each in [*other.ingress_rules, *other.egress_rules]
        ):
            raise AwsError("DependencyViolation", f"resource {identifier} has a dependent object")


@rule("ec2", "CreateSecurityGroup", source="EC2 API reference, CreateSecurityGroup")
def security_group_is_well_formed(call: ApiCall) -> None:
    """A name that is not `default` and does not begin with sg-, a description, a VPC that exists."""
    name, description = call.params.get("GroupName") or "", call.params.get("Description") or ""
    if not name:
        raise AwsError("MissingParameter", "The request must contain the parameter GroupName")
    if name.lower() == "default":
        raise AwsError("InvalidParameterValue", "Cannot use reserved security group name: default")
    if name.startswith("sg-"):
        raise AwsError(
            "InvalidParameterValue", "Invalid value for groupName. Group names may not be in the format sg-*."
        )
    for label, text in (("groupName", name), ("groupDescription", description)):
        if len(text) > 255 or not re.fullmatch(r"[A-Za-z0-9 ._\-:/()#,@\[\]+=&;{}!$*]*", text):
            raise AwsError(
                "InvalidParameterValue",
                f"Value ({text}) for parameter {label} is invalid. Character sets beyond a-zA-Z0-9. _-:/()#,@[]+=&;{{}}!$* are not supported, and 255 is the greatest length.",
            )
    if call.params.get("VpcId"):
        find_vpc(call, call.params["VpcId"])
    if sum(len(groups) for groups in backend_of(call.region).groups.values()) >= quota(
        call.world, call.region, "vpc", "security-groups"
    ):
        raise AwsError("SecurityGroupLimitExceeded", "The maximum number of security groups has been reached.")


@rule(
    "ec2",
    "AuthorizeSecurityGroupIngress",
    "AuthorizeSecurityGroupEgress",
    source="EC2 API reference, IpPermission; VPC User Guide, security group rules",
)
def security_group_rule_is_valid(call: ApiCall) -> None:
    """Ports in order and in range, ranges that parse, groups of the same VPC, at most 60 rules each way."""
    backend = backend_of(call.region)
    group = backend.get_security_group_from_id(call.params.get("GroupId") or "")
    if group is None:
        if call.params.get("GroupId"):
            raise AwsError("InvalidGroup.NotFound", f"The security group '{call.params['GroupId']}' does not exist")
        return
    added = 0
    for each in call.params.get("IpPermissions") or []:
        _check_ports(each)
        for item in each.get("IpRanges") or []:
            parse_block(item.get("CidrIp") or "", "cidrIp")
        for item in each.get("UserIdGroupPairs") or []:
            other = backend.get_security_group_from_id(item.get("GroupId") or "") if item.get("GroupId") else None
            if item.get("GroupId") and other is None:
                raise AwsError("InvalidGroup.NotFound", f"The security group '{item['GroupId']}' does not exist")
            if other is not None and other.vpc_id != group.vpc_id and not item.get("VpcPeeringConnectionId"):
                raise AwsError(
                    "InvalidGroup.NotFound", "You have specified two resources that belong to different networks."
                )
        added += sum(
            len(each.get(name) or []) for name in ("IpRanges", "Ipv6Ranges", "UserIdGroupPairs", "PrefixListIds")
        )
    standing = group.ingress_rules if call.operation.endswith("Ingress") else group.egress_rules
    if len(standing) + added > quota(call.world, call.region, "vpc", "sg-rules"):
        raise AwsError(
            "RulesPerSecurityGroupLimitExceeded", "The maximum number of rules per security group has been reached."
        )


@rule("ec2", "CreateRoute", source="EC2 API reference, CreateRoute; VPC User Guide, route tables")
def route_is_valid(call: ApiCall) -> None:
    """One destination, one target of the same VPC that exists, at most 50 routes, and none into the VPC itself."""
    params, backend = call.params, backend_of(call.region)
    table = backend.route_tables.get(params.get("RouteTableId"))
    if table is None:
        raise AwsError(
            "InvalidRouteTableID.NotFound", f"The routeTable ID '{params.get('RouteTableId')}' does not exist"
        )
    destinations = [
        params[name]
        for name in ("DestinationCidrBlock", "DestinationIpv6CidrBlock", "DestinationPrefixListId")
        if params.get(name)
    ]
    if len(destinations) != 1:
        raise AwsError(
            "InvalidParameterCombination" if destinations else "MissingParameter",
            "Exactly one destination must be given.",
        )
    targets = [
        name
        for name in (
            "GatewayId",
            "NatGatewayId",
            "InstanceId",
            "NetworkInterfaceId",
            "TransitGatewayId",
            "VpcPeeringConnectionId",
            "EgressOnlyInternetGatewayId",
            "VpcEndpointId",
            "CarrierGatewayId",
            "LocalGatewayId",
            "CoreNetworkArn",
        )
        if params.get(name)
    ]
    if len(targets) != 1:
        raise AwsError(
            "InvalidParameterCombination" if targets else "MissingParameter", "Exactly one target must be given."
        )
    _check_target(call, backend, table, targets[0])
    if params.get("DestinationCidrBlock"):
        block = parse_block(params["DestinationCidrBlock"], "destinationCidrBlock")
        vpc = backend.vpcs[table.vpc_id]
        if any(block.subnet_of(each) for each in ranges_of(vpc)) and targets[0] not in (
            "InstanceId",
            "NetworkInterfaceId",
            "VpcEndpointId",
            "NatGatewayId",
        ):
            raise AwsError(
                "InvalidParameterValue",
                f"The destination CIDR block {block} is equal to or more specific than one of this VPC's CIDR blocks. This route can target only an interface or an instance.",
            )
    if len(table.routes) >= quota(call.world, call.region, "vpc", "routes") + 1:
        raise AwsError("RouteLimitExceeded", "The maximum number of routes has been reached.")


def _check_target(call: ApiCall, backend: Any, table: Any, name: str) -> None:
    value = call.params[name]
    if name == "GatewayId" and value.startswith("igw-"):
        gateway = backend.internet_gateways.get(value)
        if gateway is None:
            raise AwsError("InvalidInternetGatewayID.NotFound", f"The internetGateway ID '{value}' does not exist")
        if gateway.vpc is None or gateway.vpc.id != table.vpc_id:
            raise AwsError(
                "InvalidParameterValue",
                f"route table {table.id} and network gateway {value} belong to different networks",
            )
    if name == "NatGatewayId":
        nat = backend.nat_gateways.get(value)
        if nat is None or nat.state in ("deleted", "failed"):
            raise AwsError("InvalidNatGatewayID.NotFound", f"The natGateway ID '{value}' does not exist")
        if nat.vpc_id != table.vpc_id:
            raise AwsError(
                "InvalidParameterValue", f"route table {table.id} and NAT gateway {value} belong to different networks"
            )


@rule(
    "ec2", "AssociateRouteTable", source="EC2 API reference, AssociateRouteTable; error code Resource.AlreadyAssociated"
)
def route_table_is_of_the_vpc(call: ApiCall) -> None:
    """Subnet and table of one VPC, and a subnet that has no other table of its own."""
    if not call.params.get("SubnetId"):
        return
    backend = backend_of(call.region)
    table, subnet = (
        backend.route_tables.get(call.params.get("RouteTableId")),
        find_subnet(backend, call.params["SubnetId"]),
    )
    if table is None:
        raise AwsError(
            "InvalidRouteTableID.NotFound", f"The routeTable ID '{call.params.get('RouteTableId')}' does not exist"
        )
    if table.vpc_id != subnet.vpc_id:
        raise AwsError(
            "InvalidParameterValue", f"Route table {table.id} and subnet {subnet.id} belong to different networks"
        )
    for other in backend.route_tables.values():
        if other.id != table.id and subnet.id in other._associations.values():
            raise AwsError(
                "Resource.AlreadyAssociated",
                f"the specified association for route table {table.id} conflicts with an existing association",
            )


@rule("ec2", "DeleteRouteTable", source=_ORDER_DOC)
def route_table_is_unused(call: ApiCall) -> None:
    """No subnet uses it, and it is not the main table."""
    table = backend_of(call.region).route_tables.get(call.params.get("RouteTableId"))
    if table is not None and (_is_main(table) or table._associations):
        raise AwsError("DependencyViolation", f"The routeTable '{table.id}' has dependencies and cannot be deleted.")


@rule(
    "ec2",
    "AttachInternetGateway",
    source="EC2 API reference, error codes Resource.AlreadyAssociated, InvalidParameterValue",
)
def vpc_has_no_gateway_yet(call: ApiCall) -> None:
    """A VPC takes one internet gateway."""
    vpc = find_vpc(call, call.params.get("VpcId"))
    for each in backend_of(call.region).internet_gateways.values():
        if each.vpc is not None and each.vpc.id == vpc.id and each.id != call.params.get("InternetGatewayId"):
            raise AwsError("InvalidParameterValue", f"Network {vpc.id} already has an internet gateway attached")


@rule("ec2", "DetachInternetGateway", source=_ORDER_DOC)
def vpc_has_no_public_address(call: ApiCall) -> None:
    """Public addresses in the VPC, of instances or NAT gateways, keep its gateway."""
    backend = backend_of(call.region)
    for each in backend.enis.values():
        if each.subnet.vpc_id == call.params.get("VpcId") and each.public_ip:
            raise AwsError(
                "DependencyViolation",
                f"Network {call.params['VpcId']} has some mapped public address(es). Please unmap those before detaching the gateway.",
            )


@rule(
    "ec2",
    "DeleteNetworkInterface",
    source="EC2 API reference, DeleteNetworkInterface; error code InvalidParameterValue",
)
def interface_is_detached(call: ApiCall) -> None:
    """An interface in use stays, and so does one that a service made."""
    found = backend_of(call.region).enis.get(call.params.get("NetworkInterfaceId"))
    if found is None:
        return
    if getattr(found, "requester_managed", False):
        raise AwsError(
            "OperationNotPermitted",
            f"You are not allowed to manage the network interface '{found.id}': a service made it.",
        )
    if found.attachment_id or found.status == "in-use":
        raise AwsError("InvalidParameterValue", f"Network interface '{found.id}' is currently in use.")


@rule("ec2", "AllocateAddress", source="Service Quotas, EC2-VPC Elastic IPs; error code AddressLimitExceeded")
def address_is_within_quota(call: ApiCall) -> None:
    """Five Elastic IP addresses unless raised."""
    if len(backend_of(call.region).addresses) >= quota(call.world, call.region, "ec2", "eip"):
        raise AwsError("AddressLimitExceeded", "The maximum number of addresses has been reached.")


@rule("ec2", "ReleaseAddress", source="EC2 API reference, ReleaseAddress; error code InvalidIPAddress.InUse")
def address_is_free(call: ApiCall) -> None:
    """An associated address is not released."""
    for each in backend_of(call.region).addresses:
        if each.allocation_id == call.params.get("AllocationId") and each.association_id:
            raise AwsError("InvalidIPAddress.InUse", f"Address: [{each.public_ip}] is in use.")


@rule("ec2", "AttachVolume", source="EC2 API reference, AttachVolume; error code InvalidVolume.ZoneMismatch")
def volume_is_in_the_zone(call: ApiCall) -> None:
    """A volume goes to an instance of its zone only."""
    backend = backend_of(call.region)
    volume = backend.volumes.get(call.params.get("VolumeId"))
    instance = next(
        (
            each
            for reservation in backend.reservations.values()
            for each in reservation.instances
            if each.id == call.params.get("InstanceId")
        ),
        None,
    )
    if volume is not None and instance is not None and volume.zone.name != instance.availability_zone:
        raise AwsError(
            "InvalidVolume.ZoneMismatch",
            f"The volume '{volume.id}' is not in the same availability zone as instance '{instance.id}'",
        )


@rule("ec2", "ModifyVpcAttribute", source="EC2 API reference, ModifyVpcAttribute: one attribute at a time")
def one_vpc_attribute_at_a_time(call: ApiCall) -> None:
    """DNS names and DNS support change in two calls."""
    if (
        sum(
            1
            for name in ("EnableDnsHostnames", "EnableDnsSupport", "EnableNetworkAddressUsageMetrics")
            if call.params.get(name) is not None
        )
        > 1
    ):
        raise AwsError("InvalidParameterCombination", "Only one attribute can be modified at a time.")


def _subnets(call: ApiCall) -> Iterator[Any]:
    for zones in backend_of(call.region).subnets.values():
        yield from zones.values()


def _is_main(table: Any) -> bool:
    return table.main_association_id is not None


def _source(permission: Any) -> str:
    return str(permission.source_group.get("GroupId") or "")


def _check_ports(permission: dict[str, Any]) -> None:
    protocol = str(permission.get("IpProtocol") or "")
    if not protocol:
        raise AwsError("MissingParameter", "The request must contain the parameter ipProtocol")
    if protocol.lower() not in ("-1", "tcp", "udp", "icmp", "icmpv6", "6", "17", "1", "58") and not (
        protocol.isdigit() and int(protocol) < 256
    ):
        raise AwsError("InvalidParameterValue", f"Invalid value '{protocol}' for IP protocol. Unknown protocol.")
    low, high = permission.get("FromPort"), permission.get("ToPort")
    if protocol.lower() in ("tcp", "udp", "6", "17"):
        if low is None or high is None:
            raise AwsError(
                "InvalidParameterValue",
                f"Invalid value 'Must specify both from and to ports with TCP/UDP.' for portRange ({protocol}).",
            )
        for each in (low, high):
            if not 0 <= int(each) <= 65_535:
                raise AwsError(
                    "InvalidParameterValue", f"Invalid value '{each}' for portRange. Port must be between 0 and 65535."
                )
        if int(low) > int(high):
            raise AwsError("InvalidParameterValue", f"Invalid TCP/UDP port range ({low}:{high})")


_MALFORMED: Final = {
    # Parameter -> (prefix, code). Source: EC2 API reference, error codes, *.Malformed.
    "InstanceId": ("i", "InvalidInstanceID.Malformed"),
    "InstanceIds": ("i", "InvalidInstanceID.Malformed"),
    "VpcId": ("vpc", "InvalidVpcId.Malformed"),
    "SubnetId": ("subnet", "InvalidSubnetID.Malformed"),
    "VolumeId": ("vol", "InvalidParameterValue"),
    "AllocationId": ("eipalloc", "InvalidAllocationID.Malformed"),
    "RouteTableId": ("rtb", "InvalidRouteTableId.Malformed"),
    "InternetGatewayId": ("igw", "InvalidInternetGatewayId.Malformed"),
    "NatGatewayId": ("nat", "NatGatewayMalformed"),
    "NetworkInterfaceId": ("eni", "InvalidNetworkInterfaceId.Malformed"),
    "SnapshotId": ("snap", "InvalidSnapshotID.Malformed"),
}


@rule(
    "ec2",
    "RunInstances",
    "TerminateInstances",
    "StopInstances",
    "StartInstances",
    "RebootInstances",
    "DescribeInstances",
    "ModifyInstanceAttribute",
    "CreateSubnet",
    "DeleteSubnet",
    "DeleteVpc",
    "CreateSecurityGroup",
    "AttachVolume",
    "DeleteVolume",
    "CreateNatGateway",
    "DeleteNatGateway",
    "CreateRoute",
    "DeleteRouteTable",
    "AttachInternetGateway",
    "DetachInternetGateway",
    "DeleteInternetGateway",
    "CreateNetworkInterface",
    "DeleteNetworkInterface",
    "ReleaseAddress",
    source="EC2 API reference, error codes, *.Malformed",
)
def identifiers_are_well_formed(call: ApiCall) -> None:
    """An id is a prefix and 8 or 17 hexadecimal digits."""
    for name, (prefix, code) in _MALFORMED.items():
        value = call.params.get(name)
        for each in value if isinstance(value, list) else [value] if value else []:
            if not re.fullmatch(rf"{prefix}-([0-9a-f]{{8}}|[0-9a-f]{{17}})", each):
                raise AwsError(code, f'Invalid id: "{each}" (expecting "{prefix}-...")')
