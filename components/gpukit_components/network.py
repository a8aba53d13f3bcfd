"""`GpuNetwork`: the VPC, its private subnets, the way out, and the security group that EFA needs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import NetworkPlan, SubnetPlan
from gpukit_components.identity import render_trust_policy
from gpukit_components.security_groups import allow_from, make_closed_security_group, make_efa_security_group

GATEWAY_ENDPOINTS = frozenset({"s3", "dynamodb"})
"""Endpoints that are routes and cost nothing. Source: VPC User Guide, "Gateway endpoints", 2026-08."""

_PRIVATE_ROLES = ("system", "gpu", "pods")
_ZONE_ID = re.compile(r"[a-z]+\d+-az\d+")


class GpuNetworkArgs(TypedDict):
    """What a network is made from: the nodes it is for decide zones and sizes."""

    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""
    cidr: NotRequired[str]
    """Address block of the VPC; `10.0.0.0/16` when left out."""
    availability_zones: NotRequired[list[str]]
    """Zones by name; chosen where `instance_type` is offered when left out."""
    instance_type: str
    """GPU instance type that the subnets are sized for."""
    nodes: int
    """Number of GPU nodes that the subnets are sized for."""
    pod_cidr: NotRequired[str]
    """Secondary address block for pods."""
    egress: NotRequired[str]
    """`nat` or `endpoints`."""
    nat_gateways: NotRequired[int]
    """Number of NAT gateways."""
    flow_log_days: NotRequired[int]
    """Days that flow logs are kept."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """KMS key for the flow logs; CloudWatch's own encryption when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags on everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkBuild:
    """A decided network, and what it is tagged and encrypted with."""

    plan: NetworkPlan
    region: str
    tags: Mapping[str, str]
    kms_key_arn: pulumi.Input[str] | None = None


class GpuNetwork(pulumi.ComponentResource):
    """A VPC for GPU nodes: private subnets sized by the plan, nothing inbound, S3 by gateway, flow logs, EFA."""

    vpc_id: pulumi.Output[str]
    """Id of the VPC."""
    subnet_ids: pulumi.Output[dict[str, str]]
    """Subnet name -> id."""
    private_subnet_ids: pulumi.Output[list[str]]
    """Ids of the subnets for nodes, in order of their names' appearance in the plan."""
    gpu_subnet_ids: pulumi.Output[list[str]]
    """Ids of the subnets for GPU nodes."""
    efa_security_group_id: pulumi.Output[str] | None
    """Id of the group that lets EFA traffic through; none where nothing uses EFA."""
    node_security_group_ids: pulumi.Output[list[str]]
    """Ids of further groups for every node: extra inbound ports, and the groups that were named."""

    def __init__(
        self,
        name: str,
        args: GpuNetworkArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: NetworkBuild | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_network

            planned = plan_network(name, args)
        super().__init__("gpukit:index:GpuNetwork", name, None, opts)
        self._name, self._tags = name, planned.tags
        self._child = pulumi.ResourceOptions(parent=self)
        # routes, their associations and endpoints: an instance needs them at boot, and goes before them
        self.ways_out: list[pulumi.Resource] = []
        plan = planned.plan

        vpc_id = self._make_vpc(plan)
        self.subnets = self._make_subnets(plan, vpc_id)
        private_tables = self._make_routes(plan, vpc_id) if plan.existing_vpc_id is None else []
        self._make_endpoints(planned, vpc_id, private_tables)
        if plan.existing_vpc_id is None:
            self._make_flow_log(planned, vpc_id)

        self.efa_security_group_id = None
        if plan.efa:
            self.efa_security_group_id = make_efa_security_group(
                name, vpc_id=vpc_id, tags=planned.tags, opts=self._child
            ).id
        self.further_groups: list[pulumi.Input[str]] = list(plan.extra_security_groups)
        if plan.ports:
            self.further_groups.append(self._make_ports_group(plan, vpc_id))

        self.vpc_id = pulumi.Output.from_input(vpc_id)
        self.subnet_ids = pulumi.Output.all(**self.subnets)
        self.private_subnet_ids = self._ids_of(plan, ("system", "gpu", "existing"))
        self.gpu_subnet_ids = self._ids_of(plan, ("gpu", "existing"))
        self.node_security_group_ids = pulumi.Output.all(*self.further_groups)
        self.register_outputs(
            {
                "vpcId": self.vpc_id,
                "subnetIds": self.subnet_ids,
                "privateSubnetIds": self.private_subnet_ids,
                "gpuSubnetIds": self.gpu_subnet_ids,
                "efaSecurityGroupId": self.efa_security_group_id,
                "nodeSecurityGroupIds": self.node_security_group_ids,
            }
        )

    @classmethod
    def from_plan(cls, name: str, planned: NetworkBuild, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Build what a plan has decided."""
        return cls(name, cast(GpuNetworkArgs, {}), opts, planned=planned)

    def _tagged(self, suffix: str, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        return {**self._tags, **(extra or {}), "Name": f"{self._name}-{suffix}"}

    def _make_vpc(self, plan: NetworkPlan) -> pulumi.Input[str]:
        if plan.existing_vpc_id is not None:
            return plan.existing_vpc_id
        import pulumi_aws as aws

        vpc = aws.ec2.Vpc(
            f"{self._name}-vpc",
            cidr_block=plan.cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags=self._tagged("vpc"),
            opts=self._child,
        )
        # The default group lets its members talk, and things land in it by accident: it gets no rule at all.
        aws.ec2.DefaultSecurityGroup(
            f"{self._name}-default", vpc_id=vpc.id, tags=self._tagged("default-closed"), opts=self._child
        )
        vpc_id: pulumi.Output[str] = vpc.id
        return vpc_id

    def _make_subnets(self, plan: NetworkPlan, vpc_id: pulumi.Input[str]) -> dict[str, pulumi.Input[str]]:
        import pulumi_aws as aws

        pod_opts = self._child
        if plan.pod_cidr is not None and any(subnet.role == "pods" for subnet in plan.subnets):
            block = aws.ec2.VpcIpv4CidrBlockAssociation(
                f"{self._name}-pods", vpc_id=vpc_id, cidr_block=plan.pod_cidr, opts=self._child
            )
            pod_opts = pulumi.ResourceOptions(parent=self, depends_on=[block])
        made: dict[str, pulumi.Input[str]] = {}
        for subnet in plan.subnets:
            if subnet.existing_id is not None:
                made[subnet.name] = subnet.existing_id
                continue
            made[subnet.name] = aws.ec2.Subnet(
                f"{self._name}-{subnet.name}",
                vpc_id=vpc_id,
                cidr_block=subnet.cidr,
                map_public_ip_on_launch=False,
                tags=self._tagged(subnet.name, _subnet_tags(subnet)),
                opts=pod_opts if subnet.role == "pods" else self._child,
                **_zone(subnet.availability_zone),
            ).id
        return made

    def _make_routes(self, plan: NetworkPlan, vpc_id: pulumi.Input[str]) -> list[pulumi.Input[str]]:
        """Create the ways out; return the route tables of private subnets."""
        import pulumi_aws as aws

        public = [subnet for subnet in plan.subnets if subnet.role == "public"]
        private = [subnet for subnet in plan.subnets if subnet.role in _PRIVATE_ROLES]
        gateways: dict[str, Any] = {}
        if public:
            gateways = self._make_nat_gateways(plan, vpc_id, public)
        tables: dict[str, Any] = {}
        for subnet in private:
            # a subnet goes out through the gateway of its own zone, else through the first one
            exit_zone = subnet.availability_zone if subnet.availability_zone in gateways else next(iter(gateways), "")
            if exit_zone not in tables:
                suffix = f"private-{exit_zone}" if len(gateways) > 1 else "private"
                tables[exit_zone] = self._make_route_table(suffix, vpc_id)
                if gateways:
                    out = aws.ec2.Route(
                        f"{self._name}-{suffix}-out",
                        route_table_id=tables[exit_zone].id,
                        destination_cidr_block="0.0.0.0/0",
                        nat_gateway_id=gateways[exit_zone].id,
                        opts=self._child,
                    )
                    self.ways_out.append(out)
            self._associate(subnet, tables[exit_zone])
        return [table.id for table in tables.values()]

    def _make_nat_gateways(
        self, plan: NetworkPlan, vpc_id: pulumi.Input[str], public: list[SubnetPlan]
    ) -> dict[str, Any]:
        import pulumi_aws as aws

        internet = aws.ec2.InternetGateway(
            f"{self._name}-internet", vpc_id=vpc_id, tags=self._tagged("internet"), opts=self._child
        )
        table = self._make_route_table("public", vpc_id)
        out = aws.ec2.Route(
            f"{self._name}-public-out",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
            opts=self._child,
        )
        after_internet = pulumi.ResourceOptions(parent=self, depends_on=[internet, out])
        gateways: dict[str, Any] = {}
        for index, subnet in enumerate(public):
            self._associate(subnet, table)
            if index >= plan.nat_gateways:
                continue
            suffix = f"nat-{subnet.availability_zone}"
            address = aws.ec2.Eip(
                f"{self._name}-{suffix}", domain="vpc", tags=self._tagged(suffix), opts=after_internet
            )
            gateways[subnet.availability_zone] = aws.ec2.NatGateway(
                f"{self._name}-{suffix}",
                subnet_id=self.subnets[subnet.name],
                allocation_id=address.id,
                tags=self._tagged(suffix),
                opts=after_internet,
            )
        return gateways

    def _make_route_table(self, suffix: str, vpc_id: pulumi.Input[str]) -> Any:
        import pulumi_aws as aws

        return aws.ec2.RouteTable(f"{self._name}-{suffix}", vpc_id=vpc_id, tags=self._tagged(suffix), opts=self._child)

    def _associate(self, subnet: SubnetPlan, table: Any) -> None:
        import pulumi_aws as aws

        link = aws.ec2.RouteTableAssociation(
            f"{self._name}-{subnet.name}",
            subnet_id=self.subnets[subnet.name],
            route_table_id=table.id,
            opts=self._child,
        )
        self.ways_out.append(link)

    def _make_endpoints(
        self, planned: NetworkBuild, vpc_id: pulumi.Input[str], private_tables: list[pulumi.Input[str]]
    ) -> None:
        import pulumi_aws as aws

        plan = planned.plan
        interfaces = [service for service in plan.endpoints if service not in GATEWAY_ENDPOINTS]
        for service in plan.endpoints:
            if service in GATEWAY_ENDPOINTS and private_tables:
                gateway = aws.ec2.VpcEndpoint(
                    f"{self._name}-{service}",
                    vpc_id=vpc_id,
                    vpc_endpoint_type="Gateway",
                    service_name=f"com.amazonaws.{planned.region}.{service}",
                    route_table_ids=private_tables,
                    tags=self._tagged(service),
                    opts=self._child,
                )
                self.ways_out.append(gateway)
        if not interfaces:
            return
        blocks = [block for block in (plan.cidr, plan.pod_cidr) if block]
        group = make_closed_security_group(
            f"{self._name}-endpoints",
            description="AWS services inside the VPC: TLS from the VPC's own addresses",
            vpc_id=vpc_id,
            tags=self._tags,
            opts=self._child,
            ingress=[allow_from(blocks, "tcp", 443, 443, "TLS from this VPC")],
        )
        places = _one_subnet_per_zone(plan)
        for service in interfaces:
            interface = aws.ec2.VpcEndpoint(
                f"{self._name}-{service.replace('.', '-')}",
                vpc_id=vpc_id,
                vpc_endpoint_type="Interface",
                service_name=f"com.amazonaws.{planned.region}.{service}",
                private_dns_enabled=True,
                subnet_ids=[self.subnets[subnet.name] for subnet in places],
                security_group_ids=[group.id],
                tags=self._tagged(service),
                opts=self._child,
            )
            self.ways_out.append(interface)

    def _make_ports_group(self, plan: NetworkPlan, vpc_id: pulumi.Input[str]) -> pulumi.Input[str]:
        group_id: pulumi.Output[str] = make_closed_security_group(
            f"{self._name}-ports",
            description="Inbound ports that the stack file asks for",
            vpc_id=vpc_id,
            tags=self._tags,
            opts=self._child,
            ingress=[
                allow_from([port.cidr], port.protocol, port.from_port, port.to_port, port.description)
                for port in plan.ports
            ],
        ).id
        return group_id

    def _make_flow_log(self, planned: NetworkBuild, vpc_id: pulumi.Input[str]) -> None:
        import pulumi_aws as aws

        log = aws.cloudwatch.LogGroup(
            f"{self._name}-flow-log",
            retention_in_days=planned.plan.flow_log_retention_days,
            kms_key_id=planned.kms_key_arn,
            tags=dict(self._tags),
            opts=self._child,
        )
        role = aws.iam.Role(
            f"{self._name}-flow-log",
            description="Writes the flow log of one VPC",
            assume_role_policy=render_trust_policy("vpc-flow-logs.amazonaws.com"),
            tags=dict(self._tags),
            opts=self._child,
        )
        rights = aws.iam.RolePolicy(
            f"{self._name}-flow-log",
            role=role.id,
            policy=pulumi.Output.json_dumps(
                {
                    "Version": "2012-10-17",
                    "Statement": [
                        {
                            "Effect": "Allow",
                            "Action": ["logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                            "Resource": [log.arn, pulumi.Output.concat(log.arn, ":*")],
                        }
                    ],
                }
            ),
            opts=self._child,
        )
        aws.ec2.FlowLog(
            f"{self._name}-flow-log",
            vpc_id=vpc_id,
            traffic_type="ALL",
            log_destination_type="cloud-watch-logs",
            log_destination=log.arn,
            iam_role_arn=role.arn,
            max_aggregation_interval=600,
            tags=self._tagged("flow-log"),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[rights]),
        )

    def _ids_of(self, plan: NetworkPlan, roles: tuple[str, ...]) -> pulumi.Output[list[str]]:
        return pulumi.Output.all(*[self.subnets[subnet.name] for subnet in plan.subnets if subnet.role in roles])


def _subnet_tags(subnet: SubnetPlan) -> dict[str, str]:
    # load balancer controllers find their subnets by these two tags
    role = "kubernetes.io/role/elb" if subnet.role == "public" else "kubernetes.io/role/internal-elb"
    return {} if subnet.role == "pods" else {role: "1"}


def _zone(zone: str) -> dict[str, str]:
    return {"availability_zone_id": zone} if _ZONE_ID.fullmatch(zone) else {"availability_zone": zone}


def _one_subnet_per_zone(plan: NetworkPlan) -> list[SubnetPlan]:
    """Return where interface endpoints stand: system subnets first, one a zone (AWS takes no second)."""
    places: dict[str, SubnetPlan] = {}
    for role in ("system", "gpu", "existing"):
        for subnet in plan.subnets:
            if subnet.role == role:
                places.setdefault(subnet.availability_zone, subnet)
    return list(places.values())
