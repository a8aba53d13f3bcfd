"""Networks: VPC, subnets, gateways, routes, endpoints, flow logs, DHCP options."""

from collections.abc import Iterable
from typing import Any, ClassVar

from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.tagging import ec2_tags
from gpukit_sandbox.provider.values import Properties, has_unknown
from gpukit_sandbox.provider.world import Calls, Refused


class Ec2Resource(Resource):
    """What EC2 resources share."""

    service = "ec2"
    autoname = ""

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """Find what an unanswered create call left by all of its tags; only a single match that bears a Name counts."""
        tags = self.all_tags(calls, inputs)
        if "Name" not in tags or not self.tagging.ec2_type or self.service != "ec2":
            return None
        filters = [
            {"Name": "resource-type", "Values": [self.tagging.ec2_type]},
            {"Name": "tag:Name", "Values": [tags["Name"]]},
        ]
        answer = calls.call("ec2", "describe_tags", Filters=filters)
        found = [str(tag["ResourceId"]) for tag in answer.get("Tags", []) if tag.get("Key") == "Name"]
        alive = [i for i in found if self._same_tags(calls, i, inputs, tags)]
        return alive[0] if len(alive) == 1 else None

    def _same_tags(self, calls: Calls, resource_id: str, inputs: Properties, tags: dict[str, str]) -> bool:
        if self.find(calls, resource_id, inputs) is None:
            return False
        return self.tagging.read(calls, "ec2", resource_id, {}, None) == tags


class Vpc(Ec2Resource):
    """A VPC; DNS settings are calls of their own."""

    token = "aws:ec2/vpc:Vpc"
    create_call, id_from = "create_vpc", "Vpc.VpcId"
    read_call, read_args, item = "describe_vpcs", {"VpcIds": ["{id}"]}, "Vpcs[0]"
    gone = ("InvalidVpcID.NotFound",)
    delete_call, delete_args = "delete_vpc", {"VpcId": "{id}"}
    renames: ClassVar = {"assignGeneratedIpv6CidrBlock": "AmazonProvidedIpv6CidrBlock"}
    tagging = ec2_tags("vpc")
    arn = "arn:aws:ec2:{region}:{account}:vpc/{id}"
    status, ready = "State", ("available",)
    defaults: ClassVar = {"enableDnsSupport": True, "instanceTenancy": "default"}
    not_imported = frozenset({"ipv6CidrBlockNetworkBorderGroup", "ipv6NetmaskLength"})

    @applies("enableDnsSupport")
    def dns_support(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the resolver; on by default, so only said when it differs."""
        if new.get("enableDnsSupport", True) != old.get("enableDnsSupport", True):
            calls.call(
                "ec2",
                "modify_vpc_attribute",
                VpcId=resource_id,
                EnableDnsSupport={"Value": bool(new.get("enableDnsSupport", True))},
            )

    @applies("enableDnsHostnames")
    def dns_hostnames(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch host names; off by default."""
        calls.call(
            "ec2",
            "modify_vpc_attribute",
            VpcId=resource_id,
            EnableDnsHostnames={"Value": bool(new.get("enableDnsHostnames"))},
        )

    @applies("enableNetworkAddressUsageMetrics")
    def usage_metrics(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the address usage metrics."""
        value = {"Value": bool(new.get("enableNetworkAddressUsageMetrics"))}
        calls.call("ec2", "modify_vpc_attribute", VpcId=resource_id, EnableNetworkAddressUsageMetrics=value)

    @applies("instanceTenancy", on_create=False)
    def tenancy(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Loosen dedicated tenancy; AWS refuses the other direction."""
        calls.call(
            "ec2", "modify_vpc_tenancy", VpcId=resource_id, InstanceTenancy=new.get("instanceTenancy", "default")
        )

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the DNS switches and the default children."""
        of_vpc = [{"Name": "vpc-id", "Values": [resource_id]}]
        tables = calls.call(
            "ec2", "describe_route_tables", Filters=[*of_vpc, {"Name": "association.main", "Values": ["true"]}]
        )["RouteTables"]
        groups = calls.call(
            "ec2", "describe_security_groups", Filters=[*of_vpc, {"Name": "group-name", "Values": ["default"]}]
        )["SecurityGroups"]
        main = tables[0]["RouteTableId"] if tables else None
        return {
            "enableDnsSupport": self._attribute(calls, resource_id, "enableDnsSupport"),
            "enableDnsHostnames": self._attribute(calls, resource_id, "enableDnsHostnames"),
            "mainRouteTableId": main,
            "defaultRouteTableId": main,
            "defaultSecurityGroupId": groups[0]["GroupId"] if groups else None,
        }

    def _attribute(self, calls: Calls, resource_id: str, name: str) -> bool:
        answer = calls.call("ec2", "describe_vpc_attribute", VpcId=resource_id, Attribute=name)
        return bool(answer[name[0].upper() + name[1:]]["Value"])


class Subnet(Ec2Resource):
    """A subnet; what it hands to new interfaces is set by calls of their own."""

    token = "aws:ec2/subnet:Subnet"
    create_call, id_from = "create_subnet", "Subnet.SubnetId"
    read_call, read_args, item = "describe_subnets", {"SubnetIds": ["{id}"]}, "Subnets[0]"
    gone = ("InvalidSubnetID.NotFound",)
    delete_call, delete_args = "delete_subnet", {"SubnetId": "{id}"}
    tagging = ec2_tags("subnet")
    arn = "arn:aws:ec2:{region}:{account}:subnet/{id}"
    status, ready = "State", ("available",)
    not_imported = frozenset({"availabilityZoneId", "enableLniAtDeviceIndex", "ipv6NetmaskLength"})

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse two ways of naming the zone."""
        if inputs.get("availabilityZone") and inputs.get("availabilityZoneId"):
            yield "availabilityZone", "conflicts with availabilityZoneId"

    @applies("mapPublicIpOnLaunch")
    def public_addresses(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch public addresses for new interfaces."""
        calls.call(
            "ec2",
            "modify_subnet_attribute",
            SubnetId=resource_id,
            MapPublicIpOnLaunch={"Value": bool(new.get("mapPublicIpOnLaunch"))},
        )

    @applies("assignIpv6AddressOnCreation")
    def ipv6_addresses(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch IPv6 addresses for new interfaces."""
        value = {"Value": bool(new.get("assignIpv6AddressOnCreation"))}
        calls.call("ec2", "modify_subnet_attribute", SubnetId=resource_id, AssignIpv6AddressOnCreation=value)

    @applies("privateDnsHostnameTypeOnLaunch", "enableResourceNameDnsARecordOnLaunch")
    def host_names(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Choose between address and resource names."""
        if new.get("privateDnsHostnameTypeOnLaunch"):
            calls.call(
                "ec2",
                "modify_subnet_attribute",
                SubnetId=resource_id,
                PrivateDnsHostnameTypeOnLaunch=new["privateDnsHostnameTypeOnLaunch"],
            )
        if new.get("enableResourceNameDnsARecordOnLaunch") is not None:
            value = {"Value": bool(new["enableResourceNameDnsARecordOnLaunch"])}
            calls.call(
                "ec2", "modify_subnet_attribute", SubnetId=resource_id, EnableResourceNameDnsARecordOnLaunch=value
            )


class InternetGateway(Ec2Resource):
    """An internet gateway, attached when a VPC is stated."""

    token = "aws:ec2/internetGateway:InternetGateway"
    create_call, id_from = "create_internet_gateway", "InternetGateway.InternetGatewayId"
    read_call, read_args, item = "describe_internet_gateways", {"InternetGatewayIds": ["{id}"]}, "InternetGateways[0]"
    gone = ("InvalidInternetGatewayID.NotFound",)
    tagging = ec2_tags("internet-gateway")
    arn = "arn:aws:ec2:{region}:{account}:internet-gateway/{id}"
    vanishing = frozenset({"vpcId"})

    @applies("vpcId")
    def attach(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Move it to the stated VPC."""
        item = self.find(calls, resource_id, {}) or {}
        attached = [a["VpcId"] for a in item.get("Attachments", [])]
        for vpc in attached:
            if vpc != new.get("vpcId"):
                calls.call("ec2", "detach_internet_gateway", InternetGatewayId=resource_id, VpcId=vpc)
        if new.get("vpcId") and new["vpcId"] not in attached:
            calls.call("ec2", "attach_internet_gateway", InternetGatewayId=resource_id, VpcId=new["vpcId"])

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the VPC that it is attached to."""
        attached = item.get("Attachments") or []
        return {"vpcId": attached[0]["VpcId"] if attached else ""}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Detach, then delete."""
        item = self.find(calls, resource_id, state) or {}
        for attached in item.get("Attachments", []):
            calls.call("ec2", "detach_internet_gateway", InternetGatewayId=resource_id, VpcId=attached["VpcId"])
        calls.call("ec2", "delete_internet_gateway", InternetGatewayId=resource_id)


class Eip(Ec2Resource):
    """An elastic address."""

    token = "aws:ec2/eip:Eip"
    create_call, id_from = "allocate_address", "AllocationId"
    read_call, read_args, item = "describe_addresses", {"AllocationIds": ["{id}"]}, "Addresses[0]"
    gone = ("InvalidAllocationID.NotFound", "InvalidAddressID.NotFound")
    delete_call, delete_args = "release_address", {"AllocationId": "{id}"}
    renames: ClassVar = {
        "instance": "InstanceId",
        "networkInterface": "NetworkInterfaceId",
        "privateIp": "PrivateIpAddress",
    }
    not_sent = frozenset({"instance", "networkInterface"})
    tagging = ec2_tags("elastic-ip")
    arn = "arn:aws:ec2:{region}:{account}:elastic-ip/{id}"
    defaults: ClassVar = {"domain": "vpc"}
    not_imported = frozenset({"address", "instance", "networkInterface", "publicIpv4Pool", "networkBorderGroup"})
    vanishing = frozenset({"associationId", "instance", "networkInterface"})

    @applies("instance", "networkInterface", "associateWithPrivateIp")
    def associate(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Bind it to the stated instance or interface, or to nothing."""
        item = self.find(calls, resource_id, {}) or {}
        if item.get("AssociationId") and old:
            calls.call("ec2", "disassociate_address", AssociationId=item["AssociationId"])
        target = {"InstanceId": new.get("instance"), "NetworkInterfaceId": new.get("networkInterface")}
        stated = {k: v for k, v in target.items() if v}
        if stated:
            calls.call("ec2", "associate_address", AllocationId=resource_id, **stated)


class NatGateway(Ec2Resource):
    """A NAT gateway of one zone."""

    token = "aws:ec2/natGateway:NatGateway"
    create_call, id_from = "create_nat_gateway", "NatGateway.NatGatewayId"
    read_call, read_args, item = "describe_nat_gateways", {"NatGatewayIds": ["{id}"]}, "NatGateways[0]"
    gone = ("NatGatewayNotFound", "InvalidNatGatewayID.NotFound", "status:deleted")
    delete_call, delete_args = "delete_nat_gateway", {"NatGatewayId": "{id}"}
    renames: ClassVar = {"privateIp": "PrivateIpAddress"}
    tagging = ec2_tags("natgateway")
    status, ready, failed = "State", ("available",), ("failed",)
    waits_for_deletion = True
    not_imported = frozenset({"privateIp", "secondaryPrivateIpAddressCount", "vpcId"})

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse a public one without an address, as AWS does for zonal gateways."""
        if inputs.get("connectivityType") == "private" and inputs.get("allocationId"):
            yield "allocationId", "a private NAT gateway takes no elastic address"

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the first address."""
        addresses = item.get("NatGatewayAddresses") or [{}]
        first = addresses[0]
        return {
            "allocationId": first.get("AllocationId"),
            "associationId": first.get("AssociationId"),
            "networkInterfaceId": first.get("NetworkInterfaceId"),
            "privateIp": first.get("PrivateIp"),
            "publicIp": first.get("PublicIp"),
        }


_ROUTE_TARGETS = {
    "carrierGatewayId": "CarrierGatewayId",
    "coreNetworkArn": "CoreNetworkArn",
    "egressOnlyGatewayId": "EgressOnlyInternetGatewayId",
    "gatewayId": "GatewayId",
    "localGatewayId": "LocalGatewayId",
    "natGatewayId": "NatGatewayId",
    "networkInterfaceId": "NetworkInterfaceId",
    "transitGatewayId": "TransitGatewayId",
    "vpcEndpointId": "VpcEndpointId",
    "vpcPeeringConnectionId": "VpcPeeringConnectionId",
}
_ROUTE_DESTINATIONS = {
    "destinationCidrBlock": "DestinationCidrBlock",
    "destinationIpv6CidrBlock": "DestinationIpv6CidrBlock",
    "destinationPrefixListId": "DestinationPrefixListId",
    "cidrBlock": "DestinationCidrBlock",
    "ipv6CidrBlock": "DestinationIpv6CidrBlock",
}


def _destination(route: Properties) -> dict[str, str]:
    return {member: route[name] for name, member in _ROUTE_DESTINATIONS.items() if route.get(name)}


def _target(route: Properties) -> dict[str, str]:
    return {member: route[name] for name, member in _ROUTE_TARGETS.items() if route.get(name)}


class RouteTable(Ec2Resource):
    """A route table, with the routes that are stated inside it."""

    token = "aws:ec2/routeTable:RouteTable"
    create_call, id_from = "create_route_table", "RouteTable.RouteTableId"
    read_call, read_args, item = "describe_route_tables", {"RouteTableIds": ["{id}"]}, "RouteTables[0]"
    gone = ("InvalidRouteTableID.NotFound",)
    delete_call, delete_args = "delete_route_table", {"RouteTableId": "{id}"}
    tagging = ec2_tags("route-table")
    arn = "arn:aws:ec2:{region}:{account}:route-table/{id}"
    not_imported = frozenset({"routes"})

    @applies("routes")
    def routes(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Make the table's own routes those that are stated."""
        item = self.find(calls, resource_id, {}) or {}
        wanted = [r for r in new.get("routes") or [] if r]
        standing = {_key(_as_route(r)): _as_route(r) for r in item.get("Routes", []) if _is_stated(r)}
        for key, route in standing.items():
            if key not in {_key(w) for w in wanted}:
                calls.call("ec2", "delete_route", RouteTableId=resource_id, **_destination(route))
        for route in wanted:
            current = standing.get(_key(route))
            if current is None:
                calls.call("ec2", "create_route", RouteTableId=resource_id, **_destination(route), **_target(route))
            elif _target(current) != _target(route):
                calls.call("ec2", "replace_route", RouteTableId=resource_id, **_destination(route), **_target(route))

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the routes, AWS's own local one left out."""
        routes = [_as_route(r) for r in item.get("Routes", []) if _is_stated(r)]
        gateways = [g["GatewayId"] for g in item.get("PropagatingVgws", [])]
        return {"routes": routes, "propagatingVgws": gateways}

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Unbind, then delete."""
        item = self.find(calls, resource_id, state) or {}
        for association in item.get("Associations", []):
            if not association.get("Main"):
                calls.call("ec2", "disassociate_route_table", AssociationId=association["RouteTableAssociationId"])
        calls.call("ec2", "delete_route_table", RouteTableId=resource_id)


def _is_stated(route: dict[str, Any]) -> bool:
    """The local route is AWS's own, and a gateway endpoint's route belongs to the endpoint."""
    gateway = str(route.get("GatewayId") or "")
    return gateway != "local" and not gateway.startswith("vpce-")


def _as_route(route: dict[str, Any]) -> Properties:
    found = {"cidrBlock": route.get("DestinationCidrBlock"), "ipv6CidrBlock": route.get("DestinationIpv6CidrBlock")}
    found["destinationPrefixListId"] = route.get("DestinationPrefixListId")
    found |= {name: route.get(member) for name, member in _ROUTE_TARGETS.items()}
    return {k: v for k, v in found.items() if v}


def _key(route: Properties) -> str:
    return str(sorted(_destination(route).values()))


class Route(Ec2Resource):
    """One route in a table."""

    token = "aws:ec2/route:Route"
    create_call = "create_route"
    renames: ClassVar = {"egressOnlyGatewayId": "EgressOnlyInternetGatewayId"}
    not_imported = frozenset({"networkInterfaceId"})

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return table and destination."""
        return self._id(inputs)

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Table and destination name it."""
        return self._id(inputs)

    def _id(self, inputs: Properties) -> str:
        return f"{inputs['routeTableId']}_{next(iter(_destination(inputs).values()))}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find the route by its destination."""
        table, _, destination = resource_id.partition("_")
        try:
            tables = calls.call("ec2", "describe_route_tables", RouteTableIds=[table])["RouteTables"]
        except Refused as refusal:
            if refusal.code == "InvalidRouteTableID.NotFound":
                return None
            raise
        for route in tables[0].get("Routes", []) if tables else []:
            if destination in _destination(_as_route(route)).values():
                return {**route, "RouteTableId": table}
        return None

    @applies(*_ROUTE_TARGETS, on_create=False)
    def retarget(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Send the destination elsewhere."""
        calls.call("ec2", "replace_route", RouteTableId=new["routeTableId"], **_destination(new), **_target(new))

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete the route."""
        table = resource_id.partition("_")[0]
        calls.call("ec2", "delete_route", RouteTableId=table, **_destination(state))

    gone = ("InvalidRoute.NotFound", "InvalidRouteTableID.NotFound")

    def import_state(self, calls: Calls, resource_id: str) -> Properties:
        """Read table and destination off the id."""
        table, _, destination = resource_id.partition("_")
        name = "destinationIpv6CidrBlock" if ":" in destination else "destinationCidrBlock"
        return {
            "routeTableId": table,
            "destinationPrefixListId" if destination.startswith("pl-") else name: destination,
        }


class RouteTableAssociation(Ec2Resource):
    """What binds a subnet or gateway to a route table."""

    token = "aws:ec2/routeTableAssociation:RouteTableAssociation"
    create_call, id_from = "associate_route_table", "AssociationId"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it by its id, else by its subnet or gateway: moving it to another table gives it a new id that the engine never learns."""
        found = self._search(calls, "association.route-table-association-id", resource_id, "RouteTableAssociationId")
        if found is None and state.get("subnetId"):
            found = self._search(calls, "association.subnet-id", state["subnetId"], "SubnetId")
        if found is None and state.get("gatewayId"):
            found = self._search(calls, "association.gateway-id", state["gatewayId"], "GatewayId")
        return found

    def _search(self, calls: Calls, filter_name: str, value: str, member: str) -> dict[str, Any] | None:
        for table in calls.call("ec2", "describe_route_tables", Filters=[{"Name": filter_name, "Values": [value]}])[
            "RouteTables"
        ]:
            for association in table.get("Associations", []):
                if association.get(member) == value:
                    return {**association, "RouteTableId": table["RouteTableId"]}
        return None

    @applies("routeTableId", on_create=False)
    def move(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Bind it to another table."""
        item = self.find(calls, resource_id, old) or {}
        calls.call(
            "ec2",
            "replace_route_table_association",
            AssociationId=item["RouteTableAssociationId"],
            RouteTableId=new["routeTableId"],
        )

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Unbind."""
        item = self.find(calls, resource_id, state)
        if item is not None:
            calls.call("ec2", "disassociate_route_table", AssociationId=item["RouteTableAssociationId"])

    gone = ("InvalidAssociationID.NotFound",)

    def find_left_over(self, calls: Calls, inputs: Properties) -> str | None:
        """Find the subnet's association with this table."""
        for table in calls.call("ec2", "describe_route_tables", RouteTableIds=[inputs["routeTableId"]])["RouteTables"]:
            for association in table.get("Associations", []):
                if association.get("SubnetId") == inputs.get("subnetId") and not association.get("Main"):
                    return str(association["RouteTableAssociationId"])
        return None


class VpcEndpoint(Ec2Resource):
    """A gateway or interface endpoint."""

    token = "aws:ec2/vpcEndpoint:VpcEndpoint"
    create_call, id_from = "create_vpc_endpoint", "VpcEndpoint.VpcEndpointId"
    read_call, read_args, item = "describe_vpc_endpoints", {"VpcEndpointIds": ["{id}"]}, "VpcEndpoints[0]"
    gone = ("InvalidVpcEndpointId.NotFound", "status:deleted")
    delete_call, delete_args = "delete_vpc_endpoints", {"VpcEndpointIds": ["{id}"]}
    renames: ClassVar = {"policy": "PolicyDocument"}
    handles = frozenset({"autoAccept"})
    tagging = ec2_tags("vpc-endpoint")
    arn = "arn:aws:ec2:{region}:{account}:vpc-endpoint/{id}"
    status, ready, failed = "State", ("available", "pendingAcceptance"), ("failed", "rejected", "expired")
    waits_for_deletion = True
    defaults: ClassVar = {"vpcEndpointType": "Gateway"}
    not_imported = frozenset({"policy", "dnsOptions", "ipAddressType", "subnetConfigurations", "serviceRegion"})

    @applies("policy", on_create=False)
    def policy(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Change or reset the policy."""
        how = {"PolicyDocument": new["policy"]} if new.get("policy") else {"ResetPolicy": True}
        calls.call("ec2", "modify_vpc_endpoint", VpcEndpointId=resource_id, **how)

    @applies("privateDnsEnabled", on_create=False)
    def private_dns(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch the private name."""
        calls.call(
            "ec2",
            "modify_vpc_endpoint",
            VpcEndpointId=resource_id,
            PrivateDnsEnabled=bool(new.get("privateDnsEnabled")),
        )

    @applies("routeTableIds", "subnetIds", "securityGroupIds", on_create=False)
    def members(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Add and remove tables, subnets and security groups."""
        change: dict[str, list[str]] = {}
        for name, word in (
            ("routeTableIds", "RouteTableIds"),
            ("subnetIds", "SubnetIds"),
            ("securityGroupIds", "SecurityGroupIds"),
        ):
            before, after = set(old.get(name) or []), set(new.get(name) or [])
            if after - before:
                change[f"Add{word}"] = sorted(after - before)
            if before - after:
                change[f"Remove{word}"] = sorted(before - after)
        if change:
            calls.call("ec2", "modify_vpc_endpoint", VpcEndpointId=resource_id, **change)

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Add the security groups, which AWS returns as objects."""
        groups = [g["GroupId"] for g in item.get("Groups") or []]
        return {"securityGroupIds": groups, "policy": state.get("policy") or None}


class FlowLog(Ec2Resource):
    """A flow log of a VPC, subnet or interface."""

    token = "aws:ec2/flowLog:FlowLog"
    create_call, id_from = "create_flow_logs", "FlowLogIds[0]"
    read_call, read_args, item = "describe_flow_logs", {"FlowLogIds": ["{id}"]}, "FlowLogs[0]"
    gone = ("InvalidFlowLogId.NotFound",)
    delete_call, delete_args = "delete_flow_logs", {"FlowLogIds": ["{id}"]}
    renames: ClassVar = {"iamRoleArn": "DeliverLogsPermissionArn"}
    handles = frozenset({"vpcId", "subnetId", "eniId"})
    tagging = ec2_tags("vpc-flow-log")
    arn = "arn:aws:ec2:{region}:{account}:vpc-flow-log/{id}"
    defaults: ClassVar = {"logDestinationType": "cloud-watch-logs", "maxAggregationInterval": 600}
    not_imported = frozenset({"destinationOptions", "logFormat"})

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Name what is watched."""
        params = super().create_params(calls, inputs)
        for name, kind in (("vpcId", "VPC"), ("subnetId", "Subnet"), ("eniId", "NetworkInterface")):
            if inputs.get(name):
                params |= {"ResourceType": kind, "ResourceIds": [inputs[name]]}
        return params

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the id; this call tells refusals in its answer."""
        for failure in answer.get("Unsuccessful") or []:
            error = failure.get("Error", {})
            raise Refused(f"ec2 CreateFlowLogs: {error.get('Code')}: {error.get('Message')}", str(error.get("Code")))
        return super().make_id(answer, inputs)

    def check(self, inputs: Properties) -> Iterable[tuple[str, str]]:
        """Refuse none or several watched resources."""
        watched = [
            n for n in ("vpcId", "subnetId", "eniId", "transitGatewayId", "transitGatewayAttachmentId") if inputs.get(n)
        ]
        if len(watched) != 1 and not has_unknown(inputs):
            yield "vpcId", f"exactly one of vpcId, subnetId, eniId must be stated, not {watched or 'none'}"

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Tell which kind of resource is watched."""
        watched = str(item.get("ResourceId", ""))
        name = {"vpc": "vpcId", "subnet": "subnetId", "eni": "eniId"}.get(watched.split("-")[0], "vpcId")
        return {name: watched or None}


class VpcIpv4CidrBlockAssociation(Ec2Resource):
    """A further CIDR of a VPC."""

    token = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"
    create_call, id_from = "associate_vpc_cidr_block", "CidrBlockAssociation.AssociationId"
    delete_call, delete_args = "disassociate_vpc_cidr_block", {"AssociationId": "{id}"}
    gone = ("InvalidVpcCidrBlockAssociationID.NotFound",)
    status, ready = "CidrBlockState.State", ("associated",)

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find it among the VPC's CIDRs."""
        filters = [{"Name": "vpc-id", "Values": [state["vpcId"]]}] if state.get("vpcId") else []
        for vpc in calls.call("ec2", "describe_vpcs", Filters=filters)["Vpcs"]:
            for block in vpc.get("CidrBlockAssociationSet", []):
                if (
                    block["AssociationId"] == resource_id
                    and block.get("CidrBlockState", {}).get("State") != "disassociated"
                ):
                    return {**block, "VpcId": vpc["VpcId"]}
        return None


class VpcDhcpOptions(Ec2Resource):
    """DHCP options."""

    token = "aws:ec2/vpcDhcpOptions:VpcDhcpOptions"
    create_call, id_from = "create_dhcp_options", "DhcpOptions.DhcpOptionsId"
    read_call, read_args, item = "describe_dhcp_options", {"DhcpOptionsIds": ["{id}"]}, "DhcpOptions[0]"
    gone = ("InvalidDhcpOptionID.NotFound", "InvalidDhcpOptionsID.NotFound")
    delete_call, delete_args = "delete_dhcp_options", {"DhcpOptionsId": "{id}"}
    handles = frozenset({"domainName", "domainNameServers", "netbiosNameServers", "netbiosNodeType", "ntpServers"})
    tagging = ec2_tags("dhcp-options")
    arn = "arn:aws:ec2:{region}:{account}:dhcp-options/{id}"
    _keys: ClassVar = {
        "domainName": "domain-name",
        "domainNameServers": "domain-name-servers",
        "ntpServers": "ntp-servers",
        "netbiosNameServers": "netbios-name-servers",
        "netbiosNodeType": "netbios-node-type",
    }

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Write the options as keys and values."""
        params = super().create_params(calls, inputs)
        params.pop("TagSpecifications", None)
        stated = {key: inputs[name] for name, key in self._keys.items() if inputs.get(name)}
        params["DhcpConfigurations"] = [
            {"Key": k, "Values": v if isinstance(v, list) else [str(v)]} for k, v in stated.items()
        ]
        return params

    def settle(self, calls: Calls, resource_id: str, inputs: Properties, *, old: Properties | None = None) -> None:
        """Tag it in a call of its own: moto drops the tags of the create call."""
        if self.all_tags(calls, inputs):
            self.tagging.change(calls, "ec2", resource_id, {}, self.all_tags(calls, inputs))

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read the options back."""
        standing = {c["Key"]: [v["Value"] for v in c["Values"]] for c in item.get("DhcpConfigurations", [])}
        found: Properties = {}
        for name, key in self._keys.items():
            if key in standing:
                found[name] = standing[key] if name.endswith("ers") else standing[key][0]
        return found


class VpcDhcpOptionsAssociation(Ec2Resource):
    """What binds DHCP options to a VPC."""

    token = "aws:ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation"
    create_call = "associate_dhcp_options"

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return both ids."""
        return f"{inputs['dhcpOptionsId']}-{inputs['vpcId']}"

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """Both ids name it."""
        return f"{inputs['dhcpOptionsId']}-{inputs['vpcId']}"

    def find(self, calls: Calls, resource_id: str, state: Properties) -> dict[str, Any] | None:
        """Find the VPC and its options."""
        vpc = f"vpc-{resource_id.rsplit('-vpc-', 1)[-1]}"
        found = calls.call("ec2", "describe_vpcs", Filters=[{"Name": "vpc-id", "Values": [vpc]}])["Vpcs"]
        if not found or found[0].get("DhcpOptionsId") in (None, "default"):
            return None
        return {"VpcId": vpc, "DhcpOptionsId": found[0]["DhcpOptionsId"]}

    @applies("dhcpOptionsId", on_create=False)
    def change(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Give the VPC other options."""
        calls.call("ec2", "associate_dhcp_options", DhcpOptionsId=new["dhcpOptionsId"], VpcId=new["vpcId"])

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Give the VPC AWS's own options back."""
        calls.call("ec2", "associate_dhcp_options", DhcpOptionsId="default", VpcId=state["vpcId"])

    gone = ("InvalidVpcID.NotFound",)
