"""`GpuNodePool`: launch templates and managed node groups for one pool, one of each per capacity source."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import ImagePlan, NodeGroupPlan, PoolPlan
from gpukit_components.boot_log import BootLog, allow_boot_log
from gpukit_components.capacity_target import render_reservation_target
from gpukit_components.identity import POD_IDENTITY_TRUST, grant_pool_permissions, make_role, render_trust_policy
from gpukit_components.security_groups import make_efa_security_group

_TAINT_EFFECTS = {
    "NoSchedule": "NO_SCHEDULE",
    "PreferNoSchedule": "PREFER_NO_SCHEDULE",
    "NoExecute": "NO_EXECUTE",
}
"""Kubernetes' spelling -> EKS's spelling."""

_NODE_POLICIES = {
    "node": "AmazonEKSWorkerNodePolicy",
    "pull": "AmazonEC2ContainerRegistryPullOnly",
    "session": "AmazonSSMManagedInstanceCore",
}
"""What a node itself may do: join, pull images, open sessions. Pods get their rights by pod identity."""

_AMI_SOURCES = frozenset({"ami-id", "ami-name", "built"})


class ReservationArgs(TypedDict):
    """One reservation or Capacity Block."""

    id: str
    """Its id, `cr-...`."""
    nodes: int
    """Instances in it that this pool may use."""
    availability_zone: str
    """The one zone it lives in."""
    starts: NotRequired[str]
    """First day (YYYY-MM-DD)."""
    ends: NotRequired[str]
    """Last day (YYYY-MM-DD)."""


class GpuNodePoolArgs(TypedDict):
    """What a pool is made from; the network layout, placement and bounds follow from type and capacity."""

    cluster_name: pulumi.Input[str]
    """Name of the EKS cluster that the nodes join."""
    instance_type: str
    """EC2 instance type."""
    vpc_id: pulumi.Input[str]
    """Id of the cluster's VPC."""
    subnet_ids: dict[str, pulumi.Input[str]]
    """Availability zone -> id of a private subnet."""
    nodes: NotRequired[int]
    """How many nodes; one when left out."""
    min_nodes: NotRequired[int]
    """The fewest nodes, where the pool scales."""
    max_nodes: NotRequired[int]
    """The most nodes, where the pool scales."""
    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""
    capacity_mode: NotRequired[str]
    """`on-demand`, `spot`, `reserved` or `capacity-block`; on demand when left out."""
    reservations: NotRequired[list[ReservationArgs]]
    """Reservations or Capacity Blocks; each becomes its own node group."""
    availability_zones: NotRequired[list[str]]
    """Zones of this pool; those of `subnet_ids` when left out."""
    efa: NotRequired[bool]
    """EFA on or off; decided from type and node count when left out."""
    efa_security_group_id: NotRequired[pulumi.Input[str]]
    """Group that lets EFA traffic through; one of its own when left out."""
    cluster_security_group_id: NotRequired[pulumi.Input[str]]
    """Group that EKS made for the cluster; looked up by the cluster's name when left out."""
    security_group_ids: NotRequired[list[pulumi.Input[str]]]
    """Further groups for every node, such as a file system's client group."""
    lustre: NotRequired[bool]
    """Whether the nodes mount Lustre; its client group goes into `security_group_ids`."""
    ami_id: NotRequired[str]
    """Image to use instead of the EKS-released one."""
    root_gib: NotRequired[int]
    """Size of the root volume in GiB."""
    labels: NotRequired[dict[str, str]]
    """Further node labels."""
    cooling_zone: NotRequired[str]
    """Name of the cooling zone that the nodes stand in."""
    cooling_method: NotRequired[str]
    """Method of that zone: `air`, `liquid`, `hybrid` or `immersion`."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """KMS key for root volumes; the account's EBS key when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags on everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterConnection:
    """What a node needs to know about its cluster; known when the cluster stands."""

    name: pulumi.Input[str]
    endpoint: pulumi.Input[str]
    certificate_authority: pulumi.Input[str]
    service_cidr: pulumi.Input[str]
    security_group_id: pulumi.Input[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePoolBuild:
    """A decided pool, and the ids it is placed by."""

    pool: PoolPlan
    image: ImagePlan
    cluster: ClusterConnection
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Subnet name, as the node groups name them, -> id."""
    region: str
    tags: Mapping[str, str]
    boot_log: BootLog | None = None
    """Where a node writes the end of its boot; only its console where there is none."""
    lustre: bool = False
    """Whether nodes mount Lustre."""
    vpc_id: pulumi.Input[str] | None = None
    """Needed only where the pool makes its own EFA security group."""
    efa_security_group_id: pulumi.Input[str] | None = None
    security_group_ids: tuple[pulumi.Input[str], ...] = ()
    kms_key_arn: pulumi.Input[str] | None = None
    ami_id: pulumi.Input[str] | None = None
    """Resolved image id, where the image comes by id or name."""
    bucket_arns: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    """ARNs of buckets that are known by a name in the plan."""
    after: tuple[pulumi.Resource, ...] = ()
    """What must stand before a node joins, and go after it: ways out of the network, network add-ons."""


class GpuNodePool(pulumi.ComponentResource):
    """Nodes of one purpose in an EKS cluster: a managed node group per capacity source, never a resource per node."""

    node_group_names: pulumi.Output[list[str]]
    """Names of the managed node groups."""
    node_role_arn: pulumi.Output[str]
    """ARN of the role that the nodes run as."""
    pod_role_arn: pulumi.Output[str] | None
    """ARN of the role of the pool's pods; none where no pod identity is stated."""
    efa_security_group_id: pulumi.Output[str] | None
    """Id of the group that lets EFA traffic through; none without EFA."""
    nodes: pulumi.Output[int]
    """Planned number of nodes."""
    gpus: pulumi.Output[int]
    """Planned number of GPUs."""
    efa_interfaces_per_node: pulumi.Output[int]
    """EFA interfaces on each node."""

    def __init__(
        self,
        name: str,
        args: GpuNodePoolArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: NodePoolBuild | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_node_pool

            planned = plan_node_pool(name, args)
        super().__init__("gpukit:index:GpuNodePool", name, None, opts)
        self._name, self._planned = name, planned
        self._child = pulumi.ResourceOptions(parent=self)
        pool = planned.pool

        role, rights = self._make_node_role()
        pod_role_arn = self._make_pod_identities()
        efa_group = self._efa_security_group()
        self._security_groups: list[pulumi.Input[str]] = [
            planned.cluster.security_group_id,
            *planned.security_group_ids,
            *([efa_group] if efa_group is not None else []),
        ]
        placement = self._make_placement_groups()
        made = [self._make_node_group(group, role, rights, placement) for group in pool.node_groups]

        self.node_groups = made
        self.node_group_names = pulumi.Output.all(*[group.node_group_name for group in made])
        self.node_role_arn = role.arn
        self.pod_role_arn = pod_role_arn
        self.efa_security_group_id = pulumi.Output.from_input(efa_group) if efa_group is not None else None
        self.nodes = pulumi.Output.from_input(pool.nodes)
        self.gpus = pulumi.Output.from_input(pool.gpus)
        self.efa_interfaces_per_node = pulumi.Output.from_input(pool.efa_interfaces_per_node)
        self.register_outputs(
            {
                "nodeGroupNames": self.node_group_names,
                "nodeRoleArn": self.node_role_arn,
                "podRoleArn": self.pod_role_arn,
                "efaSecurityGroupId": self.efa_security_group_id,
                "nodes": self.nodes,
                "gpus": self.gpus,
                "efaInterfacesPerNode": self.efa_interfaces_per_node,
            }
        )

    @classmethod
    def from_plan(cls, name: str, planned: NodePoolBuild, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Build what a plan has decided."""
        return cls(name, cast(GpuNodePoolArgs, {}), opts, planned=planned)

    def _make_node_role(self) -> tuple[Any, list[pulumi.Resource]]:
        planned = self._planned
        role, rights = make_role(
            f"{self._name}-node",
            trust=render_trust_policy("ec2.amazonaws.com"),
            description=f"Nodes of the pool {planned.pool.name}",
            managed=_NODE_POLICIES,
            tags=planned.tags,
            opts=self._child,
        )
        if planned.boot_log is not None:
            rights = [*rights, allow_boot_log(f"{self._name}-boot-log", role, planned.boot_log, self._child)]
        if not planned.pool.pod_identities:
            # without pod identities the pool's permissions belong to its nodes
            granted = grant_pool_permissions(self._name, role, planned.pool, planned.bucket_arns, self._child)
            rights = [*rights, *granted]
        return role, rights

    def _make_pod_identities(self) -> pulumi.Output[str] | None:
        import pulumi_aws as aws

        planned = self._planned
        if not planned.pool.pod_identities:
            return None
        role, _ = make_role(
            f"{self._name}-pods",
            trust=POD_IDENTITY_TRUST,
            description=f"Pods of the pool {planned.pool.name}",
            managed={},
            tags=planned.tags,
            opts=self._child,
        )
        grant_pool_permissions(self._name, role, planned.pool, planned.bucket_arns, self._child)
        for pair in planned.pool.pod_identities:
            namespace, account = pair.split("/", 1)
            aws.eks.PodIdentityAssociation(
                f"{self._name}-{namespace}-{account}",
                cluster_name=planned.cluster.name,
                namespace=namespace,
                service_account=account,
                role_arn=role.arn,
                tags=dict(planned.tags),
                opts=self._child,
            )
        arn: pulumi.Output[str] = role.arn
        return arn

    def _efa_security_group(self) -> pulumi.Input[str] | None:
        planned = self._planned
        if not planned.pool.efa:
            return None
        if planned.efa_security_group_id is not None:
            return planned.efa_security_group_id
        if planned.vpc_id is None:
            raise ValueError(f"pool {self._name}: an EFA pool needs its VPC or an EFA security group")
        group_id: pulumi.Output[str] = make_efa_security_group(
            self._name, vpc_id=planned.vpc_id, tags=planned.tags, opts=self._child
        ).id
        return group_id

    def _make_placement_groups(self) -> dict[str, pulumi.Input[str]]:
        """Create the placement groups that the plan owns; return plan name -> name in AWS."""
        import pulumi_aws as aws

        names: dict[str, pulumi.Input[str]] = {}
        for group in self._planned.pool.node_groups:
            wanted = group.placement_group
            if wanted is None or wanted in names:
                continue
            names[wanted] = wanted
            if group.owns_placement_group:
                names[wanted] = aws.ec2.PlacementGroup(
                    wanted, name=wanted, strategy="cluster", tags=dict(self._planned.tags), opts=self._child
                ).name
        return names

    def _make_node_group(
        self, group: NodeGroupPlan, role: Any, rights: list[pulumi.Resource], placement: Mapping[str, pulumi.Input[str]]
    ) -> Any:
        import pulumi_aws as aws

        planned = self._planned
        image = planned.image
        template = self._make_launch_template(group, placement)
        ignored = ["scalingConfig.desiredSize"] if group.min_instances < group.max_instances else []
        if group.update.strategy == "never":
            ignored += ["launchTemplate", "releaseVersion"]
        return aws.eks.NodeGroup(
            group.name,
            cluster_name=planned.cluster.name,
            node_role_arn=role.arn,
            subnet_ids=[planned.subnet_ids[subnet] for subnet in group.subnets],
            capacity_type=group.capacity.eks_capacity_type,
            instance_types=list(group.instance_types) if len(group.instance_types) > 1 else None,
            ami_type=image.ami_type if image.source == "eks-release" else None,
            release_version=image.release_version if image.source == "eks-release" else None,
            launch_template={"id": template.id, "version": template.latest_version.apply(str)},
            scaling_config={
                "desired_size": group.instances,
                "min_size": group.min_instances,
                # EKS takes no maximum of zero; a group that waits for its Capacity Block has a desired size of zero
                "max_size": max(1, group.max_instances),
            },
            update_config=_update_config(group),
            labels=dict(group.labels),
            taints=[
                {"key": taint.key, "value": taint.value, "effect": _TAINT_EFFECTS[taint.effect]}
                for taint in group.taints
            ],
            tags={**planned.tags, **group.tags},
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*rights, *planned.after],
                ignore_changes=ignored,
                # without surge the old instances must give their capacity back before new ones can have it
                delete_before_replace=group.update.surge == 0,
            ),
        )

    def _make_launch_template(self, group: NodeGroupPlan, placement: Mapping[str, pulumi.Input[str]]) -> Any:
        import pulumi_aws as aws

        planned = self._planned
        tags = {"Name": group.name, **planned.tags, **group.tags}
        kinds = ("instance", "volume", "network-interface")
        return aws.ec2.LaunchTemplate(
            group.name,
            description=f"gpukit pool {group.pool}, node group {group.name}",
            update_default_version=True,
            instance_type=group.instance_type if len(group.instance_types) <= 1 else None,
            image_id=planned.ami_id if planned.image.source in _AMI_SOURCES else None,
            user_data=self._user_data(group),
            network_interfaces=[
                {
                    "network_card_index": interface.network_card,
                    "device_index": interface.device_index,
                    "interface_type": interface.interface_type,
                    "security_groups": self._security_groups,
                    "delete_on_termination": "true",
                }
                for interface in group.network_interfaces
            ],
            block_device_mappings=[{"device_name": "/dev/xvda", "ebs": self._root_volume(group)}],
            metadata_options={
                "http_endpoint": "enabled",
                "http_tokens": "required",
                "http_put_response_hop_limit": 1,
            },
            capacity_reservation_specification=render_reservation_target(group.capacity),
            instance_market_options=(
                {"market_type": group.capacity.market_type} if group.capacity.market_type == "capacity-block" else None
            ),
            placement={"group_name": placement[group.placement_group]} if group.placement_group else None,
            cpu_options=_cpu_options(planned.pool),
            tag_specifications=[{"resource_type": kind, "tags": tags} for kind in kinds],
            tags={**planned.tags, **group.tags},
            opts=self._child,
        )

    def _root_volume(self, group: NodeGroupPlan) -> dict[str, Any]:
        root = group.root_volume
        return {
            "volume_size": root.gib,
            "volume_type": root.volume_type,
            "encrypted": "true",
            "kms_key_id": self._planned.kms_key_arn,
            "iops": root.iops,
            "throughput": root.throughput_mb_s,
            "delete_on_termination": "true",
        }

    def _user_data(self, group: NodeGroupPlan) -> pulumi.Input[str]:
        planned, cluster = self._planned, self._planned.cluster
        if planned.image.source == "eks-release":
            # EKS adds the cluster's part, so nothing here waits for the cluster
            return render_pool_user_data(planned, group, {})
        return pulumi.Output.all(
            cluster_name=cluster.name,
            endpoint=cluster.endpoint,
            certificate_authority=cluster.certificate_authority,
            service_cidr=cluster.service_cidr,
        ).apply(lambda known: render_pool_user_data(planned, group, known))


def render_pool_user_data(planned: NodePoolBuild, group: NodeGroupPlan, cluster: Mapping[str, str]) -> str:
    """Return the user data of one node group in base64, as a launch template takes it."""
    from gpukit.images.render import encode_user_data, render_node_user_data

    text = render_node_user_data(
        pool=planned.pool,
        group=group,
        image=planned.image,
        cluster_name=cluster.get("cluster_name", ""),
        endpoint=cluster.get("endpoint", ""),
        certificate_authority=cluster.get("certificate_authority", ""),
        service_cidr=cluster.get("service_cidr", ""),
        region=planned.region,
        log_group=planned.boot_log.name if planned.boot_log else "",
        lustre=planned.lustre,
    )
    return encode_user_data(text)


def _update_config(group: NodeGroupPlan) -> dict[str, Any]:
    update = group.update
    # MINIMAL ends old nodes before it starts new ones: there is no spare instance in a reservation
    strategy = "MINIMAL" if update.surge == 0 else "DEFAULT"
    if update.max_unavailable_pct is not None:
        return {"max_unavailable_percentage": update.max_unavailable_pct, "update_strategy": strategy}
    return {"max_unavailable": update.max_unavailable or 1, "update_strategy": strategy}


def _cpu_options(pool: PoolPlan) -> dict[str, int] | None:
    threads = pool.node_settings.get("threads_per_core")
    # EC2 wants cores and threads together; two threads a core is what the x86 GPU types come with
    if threads != "1" or pool.architecture != "x86_64":
        return None
    return {"core_count": pool.vcpu_per_node // 2, "threads_per_core": 1}
