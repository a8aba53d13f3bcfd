"""The VPC: private, closed, and with exactly the ways out that the plan names."""

from collections.abc import Callable
from dataclasses import replace

import plans
import pytest
from gpukit_components.network import GpuNetwork, NetworkBuild
from recorder import Recorder

from gpukit.plan import NetworkPlan, PortPlan, SubnetPlan


def _build(recorded: Callable[..., Recorder], plan: NetworkPlan) -> Recorder:
    return recorded(lambda: GpuNetwork.from_plan("ml", NetworkBuild(plan=plan, region="us-east-1", tags=plans.TAGS)))


def test_no_subnet_gives_public_addresses(recorded: Callable[..., Recorder]) -> None:
    subnets = _build(recorded, plans.NETWORK).of("Subnet")

    assert [subnet.inputs["mapPublicIpOnLaunch"] for subnet in subnets] == [False] * 4


def test_default_security_group_has_no_rule(recorded: Callable[..., Recorder]) -> None:
    group = _build(recorded, plans.NETWORK).one("DefaultSecurityGroup")

    assert "ingress" not in group.inputs
    assert "egress" not in group.inputs


def test_efa_security_group_allows_itself_in_both_directions_and_nothing_else(
    recorded: Callable[..., Recorder],
) -> None:
    group = _build(recorded, plans.NETWORK).one("SecurityGroup", "ml-efa")

    for direction in ("ingress", "egress"):
        (rule,) = group.inputs[direction]
        assert (rule["protocol"], rule["self"]) == ("-1", True)
        assert "cidrBlocks" not in rule


def test_network_without_efa_makes_no_efa_group(recorded: Callable[..., Recorder]) -> None:
    assert _build(recorded, replace(plans.NETWORK, efa=False)).of("SecurityGroup") == []


def test_private_subnets_go_out_through_nat_and_public_ones_through_the_internet_gateway(
    recorded: Callable[..., Recorder],
) -> None:
    made = _build(recorded, plans.NETWORK)

    assert {route.name: sorted(route.inputs) for route in made.of("Route")} == {
        "ml-public-out": ["destinationCidrBlock", "gatewayId", "routeTableId"],
        "ml-private-out": ["destinationCidrBlock", "natGatewayId", "routeTableId"],
    }
    tables = {link.name: link.inputs["routeTableId"] for link in made.of("RouteTableAssociation")}
    assert tables == {
        "ml-gpu-us-east-1a": "ml-private-id",
        "ml-public-us-east-1a": "ml-public-id",
        "ml-system-us-east-1a": "ml-private-id",
        "ml-system-us-east-1b": "ml-private-id",
    }


def test_each_zone_with_a_nat_gateway_uses_its_own(recorded: Callable[..., Recorder]) -> None:
    second = SubnetPlan(
        name="public-us-east-1b",
        cidr="10.0.66.16/28",
        availability_zone="us-east-1b",
        role="public",
        usable_addresses=11,
        needed_addresses=1,
    )
    plan = replace(plans.NETWORK, nat_gateways=2, subnets=(*plans.NETWORK.subnets, second))

    made = _build(recorded, plan)

    assert sorted(gateway.name for gateway in made.of("NatGateway")) == ["ml-nat-us-east-1a", "ml-nat-us-east-1b"]
    tables = {link.name: link.inputs["routeTableId"] for link in made.of("RouteTableAssociation")}
    assert tables["ml-system-us-east-1a"] == "ml-private-us-east-1a-id"
    assert tables["ml-system-us-east-1b"] == "ml-private-us-east-1b-id"


def test_network_with_endpoints_only_has_no_way_to_the_internet(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, plans.CLOSED_NETWORK)

    for kind in ("InternetGateway", "NatGateway", "Eip", "Route"):
        assert made.of(kind) == []
    kinds = {endpoint.name: endpoint.inputs["vpcEndpointType"] for endpoint in made.of("VpcEndpoint")}
    assert kinds.pop("ml-s3") == "Gateway"
    assert set(kinds.values()) == {"Interface"}
    assert len(kinds) == 7


def test_interface_endpoints_take_tls_from_the_vpc_alone_in_one_subnet_a_zone(
    recorded: Callable[..., Recorder],
) -> None:
    made = _build(recorded, plans.CLOSED_NETWORK)

    (rule,) = made.one("SecurityGroup", "ml-endpoints").inputs["ingress"]
    assert (rule["fromPort"], rule["toPort"], rule["cidrBlocks"]) == (443, 443, ["10.0.0.0/16"])
    assert made.one("VpcEndpoint", "ml-ecr-api").inputs["subnetIds"] == [
        "ml-system-us-east-1a-id",
        "ml-system-us-east-1b-id",
    ]


def test_flow_logs_are_kept_as_long_as_the_plan_says(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, plans.NETWORK)

    assert made.one("LogGroup").inputs["retentionInDays"] == 30
    assert made.one("FlowLog").inputs["trafficType"] == "ALL"


def test_existing_vpc_is_only_referred_to(recorded: Callable[..., Recorder]) -> None:
    subnet = replace(plans.NETWORK.subnets[0], role="existing", existing_id="subnet-0123456789abcdef0")
    plan = replace(
        plans.NETWORK, existing_vpc_id="vpc-0123456789abcdef0", subnets=(subnet,), endpoints=(), nat_gateways=0
    )

    made = _build(recorded, plan)

    assert sorted(resource.short for resource in made.resources) == ["GpuNetwork", "SecurityGroup"]
    assert made.one("SecurityGroup").inputs["vpcId"] == "vpc-0123456789abcdef0"


def test_stated_ports_open_only_to_their_own_addresses(recorded: Callable[..., Recorder]) -> None:
    port = PortPlan(protocol="tcp", from_port=8265, to_port=8265, cidr="192.168.0.0/24", description="dashboard")

    (rule,) = _build(recorded, replace(plans.NETWORK, ports=(port,))).one("SecurityGroup", "ml-ports").inputs["ingress"]

    assert (rule["fromPort"], rule["cidrBlocks"]) == (8265, ["192.168.0.0/24"])


@pytest.mark.parametrize(
    ("zone", "key"),
    [
        pytest.param("us-east-1a", "availabilityZone", id="by-name"),
        pytest.param("use1-az4", "availabilityZoneId", id="by-zone-id"),
    ],
)
def test_zone_is_given_in_the_form_that_the_plan_has(recorded: Callable[..., Recorder], zone: str, key: str) -> None:
    subnet = replace(plans.NETWORK.subnets[0], availability_zone=zone)

    made = _build(recorded, replace(plans.CLOSED_NETWORK, subnets=(subnet,), endpoints=()))

    assert made.one("Subnet").inputs[key] == zone


def test_pod_subnets_wait_for_their_address_block(recorded: Callable[..., Recorder]) -> None:
    pods = replace(plans.NETWORK.subnets[0], name="pods-us-east-1a", cidr="100.64.0.0/18", role="pods")
    plan = replace(plans.NETWORK, pod_cidr="100.64.0.0/16", subnets=(*plans.NETWORK.subnets, pods))

    made = _build(recorded, plan)

    assert made.one("VpcIpv4CidrBlockAssociation").inputs["cidrBlock"] == "100.64.0.0/16"
    assert any("ml-pods" in urn for urn in made.one("Subnet", "ml-pods-us-east-1a").depends_on)
