"""Network parts that moto makes with addresses out of the air: interfaces, NAT gateways and endpoints take real addresses of their subnets here."""

import ipaddress
import re
from typing import Any, Final

from moto.ec2.utils import random_eip_association_id

from gpukit_sandbox.cloud.ec2_instances import CardInterface, free_addresses, require_address, taken_addresses
from gpukit_sandbox.cloud.ec2_launch_rules import find_subnet
from gpukit_sandbox.cloud.ec2_launches import backend_of, live_instances
from gpukit_sandbox.cloud.ec2_network_rules import find_vpc
from gpukit_sandbox.cloud.ec2_placement import tags_of
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.images import let_default_group_reach_itself
from gpukit_sandbox.cloud.policy_rules import service_names
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall

GATEWAY_SERVICES: Final = ("s3", "dynamodb")
_MORE_ENDPOINTS: Final = frozenset(
    {
        "ecr",
        "ssmmessages",
        "ec2messages",
        "eks-auth",
        "elasticfilesystem",
        "elasticfilesystem-fips",
        "notebook",
        "airflow",
        "aps",
        "aps-workspaces",
        "git-codecommit",
        "s3-global",
        "s3express",
        "s3tables",
        "monitoring",
    }
)
_NAT_DOC: Final = "EC2 API reference, CreateNatGateway; VPC User Guide, NAT gateways"
_ENDPOINT_DOC: Final = "EC2 API reference, CreateVpcEndpoint; AWS PrivateLink Guide"


@action("ec2", "CreateNetworkInterface")
def create_network_interface(call: ApiCall) -> dict[str, Any]:
    """Make an interface with a free address of its subnet; an efa-only one has none."""
    params, backend = call.params, backend_of(call.region)
    subnet = find_subnet(backend, params.get("SubnetId") or "")
    groups = []
    for identifier in params.get("Groups") or []:
        group = backend.get_security_group_from_id(identifier)
        if group is None:
            raise AwsError("InvalidGroup.NotFound", f"The security group '{identifier}' does not exist")
        if group.vpc_id != subnet.vpc_id:
            raise AwsError(
                "InvalidParameter", f"Security group {identifier} and subnet {subnet.id} belong to different networks."
            )
        groups.append(group)
    if len(groups) > quota(call.world, call.region, "vpc", "sg-per-eni"):
        raise AwsError(
            "SecurityGroupsPerInterfaceLimitExceeded",
            "The maximum number of security groups per interface has been reached.",
        )
    if len(backend.enis) >= quota(call.world, call.region, "vpc", "network-interfaces"):
        raise AwsError(
            "NetworkInterfaceLimitExceeded", "You have reached the maximum number of network interfaces in the Region."
        )
    kind = params.get("InterfaceType") or "interface"
    wanted = [params["PrivateIpAddress"]] if params.get("PrivateIpAddress") else []
    wanted += [
        each["PrivateIpAddress"]
        for each in params.get("PrivateIpAddresses") or []
        if each.get("PrivateIpAddress") not in wanted
    ]
    if kind == "efa-only" and (wanted or params.get("SecondaryPrivateIpAddressCount")):
        raise AwsError("InvalidParameterCombination", "An EFA-only network interface takes no IP address.")
    taken = taken_addresses(backend, subnet)
    for each in wanted:
        if ipaddress.ip_address(each) not in ipaddress.ip_network(subnet.cidr_block):
            raise AwsError("InvalidParameterValue", f"Address {each} does not fall within the subnet's address range")
        if each in taken:
            raise AwsError("InvalidIPAddress.InUse", f"Address {each} is in use.")
    free = free_addresses(backend, subnet)
    addresses = wanted or ([] if kind == "efa-only" else [require_address(free, subnet)])
    for _ in range(int(params.get("SecondaryPrivateIpAddressCount") or 0)):
        addresses.append(require_address(free, subnet))
    if not groups:
        default = backend.get_default_security_group(subnet.vpc_id)
        groups = [default] if default else []
    settings = {"Description": params.get("Description"), "InterfaceType": kind, "DeleteOnTermination": False}
    interface = CardInterface(
        backend, subnet, address=addresses[0] if addresses else None, groups=groups, settings=settings, hostnames=False
    )
    interface.private_ip_addresses += [{"Primary": False, "PrivateIpAddress": each} for each in addresses[1:]]
    interface.device_index = None
    interface.add_tags({tag["Key"]: tag["Value"] for tag in tags_of(params, "network-interface")})
    backend.enis[interface.id] = interface
    return {"NetworkInterface": interface}


@action("ec2", "CreateVpc", "CreateDefaultVpc")
def create_vpc(call: ApiCall) -> dict[str, Any]:
    """Make a VPC whose default group lets its own members in, as on AWS."""
    answer = call.moto()
    let_default_group_reach_itself(backend_of(call.region), answer["Vpc"]["VpcId"])
    return answer


@rule(
    "ec2",
    "AttachNetworkInterface",
    source="EC2 User Guide, Elastic Fabric Adapter: attach at launch or to a stopped instance; DescribeInstanceTypes",
)
def interface_can_be_attached(call: ApiCall) -> None:
    """A free interface, in the instance's zone, within its limits; an EFA only to a stopped instance."""
    from gpukit_sandbox.cloud.hardware import describe_type

    backend, params = backend_of(call.region), call.params
    interface = backend.enis.get(params.get("NetworkInterfaceId"))
    instance = next((each for each in live_instances(call.region) if each.id == params.get("InstanceId")), None)
    if interface is None or instance is None:
        return
    if interface.attachment_id:
        raise AwsError("InvalidNetworkInterface.InUse", f"Interface: [{interface.id}] in use.")
    if interface.subnet.availability_zone != instance.availability_zone:
        raise AwsError(
            "InvalidParameterCombination",
            "You may not attach a network interface to an instance if they are not in the same availability zone",
        )
    card = int(params.get("NetworkCardIndex") or 0)
    if any(
        (getattr(each, "network_card_index", 0), each.device_index) == (card, int(params.get("DeviceIndex") or 0))
        for each in instance.nics.values()
    ):
        raise AwsError(
            "InvalidParameterValue",
            f"Instance '{instance.id}' already has an interface attached at device index '{params.get('DeviceIndex')}'.",
        )
    if interface.interface_type in ("efa", "efa-only") and instance.state != "stopped":
        raise AwsError(
            "IncorrectInstanceState",
            "An Elastic Fabric Adapter can be attached at launch or to a stopped instance only.",
        )
    cards = {
        each["NetworkCardIndex"]: each
        for each in (describe_type(instance.instance_type) or {}).get("NetworkInfo", {}).get("NetworkCards", [])
    }
    most = int(cards.get(card, {}).get("MaximumNetworkInterfaces", 0))
    if sum(1 for each in instance.nics.values() if getattr(each, "network_card_index", 0) == card) >= most:
        raise AwsError(
            "AttachmentLimitExceeded",
            f"Interface count exceeds the limit for {instance.instance_type}: {most} on network card {card}.",
        )


@rule("ec2", "CreateNatGateway", source=_NAT_DOC)
def nat_gateway_is_well_formed(call: ApiCall) -> None:
    """A public one needs a free Elastic IP address, a private one takes none; five a zone."""
    params, backend = call.params, backend_of(call.region)
    subnet = find_subnet(backend, params.get("SubnetId") or "")
    if params.get("ConnectivityType") == "private":
        if params.get("AllocationId"):
            raise AwsError(
                "InvalidParameterCombination", "AllocationId may not be specified for a private NAT gateway."
            )
    else:
        if not params.get("AllocationId"):
            raise AwsError("MissingParameter", "The request must contain the parameter AllocationId")
        address = next((each for each in backend.addresses if each.allocation_id == params["AllocationId"]), None)
        if address is None:
            raise AwsError(
                "InvalidAllocationID.NotFound", f"The allocation ID '{params['AllocationId']}' does not exist"
            )
        if address.association_id:
            raise AwsError(
                "Resource.AlreadyAssociated", f"Elastic IP address [{params['AllocationId']}] is already associated"
            )
    in_zone = [
        each
        for each in backend.nat_gateways.values()
        if each.state == "available"
        and find_subnet(backend, each.subnet_id).availability_zone == subnet.availability_zone
    ]
    if len(in_zone) >= quota(call.world, call.region, "vpc", "nat-gateways"):
        raise AwsError(
            "NatGatewayLimitExceeded",
            f"Performing this operation would exceed the limit of NAT gateways in {subnet.availability_zone}",
        )


@action("ec2", "CreateNatGateway")
def create_nat_gateway(call: ApiCall) -> dict[str, Any]:
    """Make a gateway with an address of its subnet; without an internet gateway it fails, as on AWS, after the call was accepted."""
    backend = backend_of(call.region)
    subnet = find_subnet(backend, call.params["SubnetId"])
    address = require_address(free_addresses(backend, subnet), subnet)
    answer = call.moto()
    nat = backend.nat_gateways[answer["NatGateway"]["NatGatewayId"]]
    interface = nat._eni
    interface.private_ip_address = nat.private_ip = address
    interface.private_ip_addresses = [{"Primary": True, "PrivateIpAddress": address}]
    interface.requester_managed, interface.status, interface.interface_type = True, "in-use", "nat_gateway"
    interface.description = f"Interface for NAT Gateway {nat.id}"
    for each in nat.address_set:
        each["privateIp"] = address
    public = call.params.get("ConnectivityType") != "private"
    if public and not any(
        each.vpc is not None and each.vpc.id == subnet.vpc_id for each in backend.internet_gateways.values()
    ):
        nat.state = "failed"
        nat.failure_code, nat.failure_message = (
            "Gateway.NotAttached",
            f"Network {subnet.vpc_id} has no Internet gateway attached",
        )
        _take_down(backend, nat)
    return {"NatGateway": nat}


@action("ec2", "DeleteNatGateway")
def delete_nat_gateway(call: ApiCall) -> dict[str, Any]:
    """Delete a gateway: its interface goes, its Elastic IP address is free again."""
    backend = backend_of(call.region)
    nat = backend.nat_gateways.get(call.params.get("NatGatewayId"))
    if nat is None:
        raise AwsError("NatGatewayNotFound", f"NAT gateway {call.params.get('NatGatewayId')} was not found")
    nat.state = "deleted"
    _take_down(backend, nat)
    return {"NatGatewayId": nat.id}


def _take_down(backend: Any, nat: Any) -> None:
    backend.enis.pop(nat._eni.id, None)
    free_elastic_addresses(backend, nat._eni)


def free_elastic_addresses(backend: Any, interface: Any) -> None:
    """Let go of the Elastic IP addresses of an interface that is gone."""
    for address in backend.addresses:
        if address.eni is not None and address.eni.id == interface.id:
            address.eni = address.instance = address.association_id = None


@action("ec2", "AssociateAddress")
def associate_address(call: ApiCall) -> dict[str, Any]:
    """Give an Elastic IP address to an instance or interface. Raises Resource.AlreadyAssociated."""
    backend, params = backend_of(call.region), call.params
    address = next(
        (
            each
            for each in backend.addresses
            if each.allocation_id == params.get("AllocationId") or each.public_ip == params.get("PublicIp")
        ),
        None,
    )
    if address is None:
        raise AwsError(
            "InvalidAllocationID.NotFound", f"The allocation ID '{params.get('AllocationId')}' does not exist"
        )
    instance = next((each for each in live_instances(call.region) if each.id == params.get("InstanceId")), None)
    if params.get("InstanceId") and instance is None:
        raise AwsError("InvalidInstanceID.NotFound", f"The instance ID '{params['InstanceId']}' does not exist")
    if instance is not None and len(instance.nics) > 1 and not params.get("NetworkInterfaceId"):
        raise AwsError(
            "InvalidInstanceID",
            f"There are multiple interfaces attached to instance '{instance.id}'. Please specify an interface ID for the operation instead.",
        )
    interface = (
        backend.enis.get(params.get("NetworkInterfaceId"))
        if params.get("NetworkInterfaceId")
        else (instance.nics[0] if instance else None)
    )
    if interface is None:
        raise AwsError(
            "InvalidNetworkInterfaceID.NotFound",
            f"The networkInterface ID '{params.get('NetworkInterfaceId')}' does not exist",
        )
    if not any(
        each.vpc is not None and each.vpc.id == interface.subnet.vpc_id for each in backend.internet_gateways.values()
    ):
        raise AwsError(
            "Gateway.NotAttached", f"Network {interface.subnet.vpc_id} is not attached to any internet gateway"
        )
    if (
        address.association_id
        and params.get("AllowReassociation") is not True
        and (address.eni is None or address.eni.id != interface.id)
    ):
        raise AwsError(
            "Resource.AlreadyAssociated",
            f"resource {params.get('AllocationId')} is already associated with associate-id {address.association_id}",
        )
    address.eni, address.instance, address.association_id = interface, interface.instance, random_eip_association_id()
    interface.public_ip = address.public_ip
    return {"AssociationId": address.association_id}


@rule("ec2", "CreateVpcEndpoint", source=_ENDPOINT_DOC)
def endpoint_is_well_formed(call: ApiCall) -> None:
    """A service of the Region, of the type asked for; one subnet a zone; private DNS only where the VPC resolves names, and once."""
    params, backend = call.params, backend_of(call.region)
    vpc = find_vpc(call, params.get("VpcId"))
    service, kind = params.get("ServiceName") or "", params.get("VpcEndpointType") or "Gateway"
    match = re.fullmatch(
        rf"(?:com|aws)\.(?:amazonaws|api|sagemaker)\.{call.region}\.([a-z0-9-]+)(?:\.[a-z0-9.-]+)?", service
    )
    private_link = re.fullmatch(rf"com\.amazonaws\.vpce\.{call.region}\.vpce-svc-[0-9a-f]+", service)
    if private_link is None and (
        match is None or (match.group(1) not in service_names() and match.group(1) not in _MORE_ENDPOINTS)
    ):
        raise AwsError("InvalidServiceName", f"The Vpc Endpoint Service '{service}' does not exist")
    name = match.group(1) if match else ""
    if kind == "Gateway" and name not in GATEWAY_SERVICES:
        raise AwsError(
            "InvalidParameter",
            f"Endpoint type (Gateway) does not match available service types ([Interface]) for {service}.",
        )
    if kind == "Gateway":
        if params.get("SubnetIds") or params.get("SecurityGroupIds"):
            raise AwsError("InvalidParameter", "Subnets and security groups are for interface endpoints.")
        for table in params.get("RouteTableIds") or []:
            if table not in backend.route_tables:
                raise AwsError("InvalidRouteTableId.NotFound", f"The routeTable ID '{table}' does not exist")
            if any(
                table in each.route_table_ids and each.service_name == service and each.state != "deleted"
                for each in backend.vpc_end_points.values()
            ):
                raise AwsError(
                    "RouteAlreadyExists", f"route table {table} already has a route with the prefix list of {service}"
                )
        return
    if params.get("RouteTableIds"):
        raise AwsError("InvalidParameter", "Route tables are for gateway endpoints.")
    zones: set[str] = set()
    for identifier in params.get("SubnetIds") or []:
        subnet = find_subnet(backend, identifier)
        if subnet.vpc_id != vpc.id:
            raise AwsError("InvalidParameter", f"The subnet {identifier} is not in {vpc.id}.")
        if subnet.availability_zone in zones:
            raise AwsError(
                "DuplicateSubnetsInSameZone",
                f"Found another VPC endpoint subnet in the availability zone of {identifier}.",
            )
        zones.add(subnet.availability_zone)
    for identifier in params.get("SecurityGroupIds") or []:
        group = backend.get_security_group_from_id(identifier)
        if group is None or group.vpc_id != vpc.id:
            raise AwsError(
                "InvalidGroup.NotFound" if group is None else "InvalidParameter",
                f"The security group '{identifier}' does not exist in {vpc.id}",
            )
    if params.get("PrivateDnsEnabled"):
        if not (_on(vpc.enable_dns_support) and _on(vpc.enable_dns_hostnames)):
            raise AwsError(
                "InvalidParameter",
                f"Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true for {vpc.id}",
            )
        for each in backend.vpc_end_points.values():
            if (
                (each.vpc_id, each.service_name, each.state) == (vpc.id, service, "available")
                and each.private_dns_enabled
                and str(each.vpc_endpoint_type) == "Interface"
            ):
                raise AwsError(
                    "InvalidParameter",
                    f"private-dns-enabled cannot be set because there is already a conflicting DNS domain for {service} in the VPC {vpc.id}",
                )


@action("ec2", "CreateVpcEndpoint")
def create_vpc_endpoint(call: ApiCall) -> dict[str, Any]:
    """Make an endpoint; the interfaces of an interface endpoint take addresses of their subnets and the endpoint's groups."""
    answer = call.moto()
    backend = backend_of(call.region)
    endpoint = backend.vpc_end_points[answer["VpcEndpoint"]["VpcEndpointId"]]
    groups = [backend.get_security_group_from_id(each) for each in endpoint.security_group_ids]
    if not groups and endpoint.network_interface_ids:
        default = backend.get_default_security_group(endpoint.vpc_id)
        groups = [default] if default else []
        endpoint.security_group_ids = [each.id for each in groups]
    for identifier in endpoint.network_interface_ids:
        interface = backend.enis[identifier]
        interface.private_ip_addresses = []
        address = require_address(free_addresses(backend, interface.subnet), interface.subnet)
        interface.private_ip_address = address
        interface.private_ip_addresses = [{"Primary": True, "PrivateIpAddress": address}]
        interface._group_set = list(groups)
        interface.requester_managed, interface.status, interface.interface_type = True, "in-use", "vpc_endpoint"
        interface.description = f"VPC Endpoint Interface {endpoint.id}"
    return {"VpcEndpoint": endpoint}


@action("ec2", "ModifyVpcEndpoint")
def modify_vpc_endpoint(call: ApiCall) -> dict[str, Any]:
    """Change it; a gateway endpoint's routes follow its tables, which moto leaves out."""
    backend = backend_of(call.region)
    answer = call.moto()
    endpoint = backend.vpc_end_points.get(call.params.get("VpcEndpointId"))
    prefix_list = getattr(endpoint, "destination_prefix_list_id", None)
    if prefix_list:
        for table in call.params.get("AddRouteTableIds") or []:
            backend.create_route(table, None, destination_prefix_list_id=prefix_list, gateway_id=endpoint.id)
        for table in call.params.get("RemoveRouteTableIds") or []:
            backend.delete_route(table, prefix_list)
    return answer


@action("ec2", "DeleteVpcEndpoints")
def delete_vpc_endpoints(call: ApiCall) -> dict[str, Any]:
    """Delete endpoints with their interfaces or routes; what does not exist is told, not raised."""
    backend = backend_of(call.region)
    unsuccessful = []
    for identifier in call.params.get("VpcEndpointIds") or []:
        if identifier not in backend.vpc_end_points:
            unsuccessful.append(
                {
                    "ResourceId": identifier,
                    "Error": {
                        "Code": "InvalidVpcEndpoint.NotFound",
                        "Message": f"The Vpc Endpoint Id '{identifier}' does not exist",
                    },
                }
            )
            continue
        backend.delete_vpc_endpoints([identifier])
        del backend.vpc_end_points[identifier]
    return {"Unsuccessful": unsuccessful}


def _on(value: Any) -> bool:
    return str(value).lower() == "true"
