"""`GpuCluster`: the EKS control plane, its add-ons, who may use it, and the system nodes that it needs to work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import AddonPlan, ImagePlan, KubernetesPlan, PoolPlan
from gpukit_components.addons import (
    ADDON_RIGHTS,
    BEFORE_NODES,
    S3_DRIVER,
    S3_DRIVER_ACCOUNT,
    render_pod_network_configuration,
    render_prefix_configuration,
)
from gpukit_components.boot_log import make_boot_log
from gpukit_components.encryption import make_encryption_key
from gpukit_components.identity import (
    POD_IDENTITY_TRUST,
    make_role,
    partition,
    render_bucket_policy,
    render_trust_policy,
)
from gpukit_components.node_pool import ClusterConnection, GpuNodePool, NodePoolBuild

_ACCESS_POLICIES = {
    ("admin", False): "AmazonEKSClusterAdminPolicy",
    ("admin", True): "AmazonEKSAdminPolicy",
    ("edit", False): "AmazonEKSEditPolicy",
    ("edit", True): "AmazonEKSEditPolicy",
    ("view", False): "AmazonEKSViewPolicy",
    ("view", True): "AmazonEKSViewPolicy",
}
"""(right, only in namespaces) -> access policy. Source: EKS User Guide, "Review access policy permissions", 2026-08."""


class GpuClusterArgs(TypedDict):
    """What a cluster is made from."""

    subnet_ids: dict[str, pulumi.Input[str]]
    """Availability zone -> id of a private subnet; EKS needs at least two zones."""
    vpc_id: pulumi.Input[str]
    """Id of the VPC that the subnets are in."""
    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""
    version: NotRequired[str]
    """Kubernetes version, such as `1.34`; gpukit's own choice when left out."""
    addons: NotRequired[dict[str, str]]
    """Further EKS add-ons: name -> exact version."""
    administrators: NotRequired[list[str]]
    """ARNs of IAM roles that administer the cluster."""
    viewers: NotRequired[list[str]]
    """ARNs of IAM roles that may look."""
    public_endpoint_cidrs: NotRequired[list[str]]
    """Who may reach the API server from outside; nobody when left out."""
    system_instance_type: NotRequired[str]
    """Instance type of the system nodes."""
    system_nodes: NotRequired[int]
    """Number of system nodes."""
    log_days: NotRequired[int]
    """Days that control plane logs are kept."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """KMS key for secrets, logs and volumes; a key of its own when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags on everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterBuild:
    """A decided cluster, and the ids it is placed by."""

    cluster_name: str
    plan: KubernetesPlan
    region: str
    tags: Mapping[str, str]
    subnet_ids: Mapping[str, pulumi.Input[str]]
    """Subnet name -> id, as the pools name them."""
    control_plane_subnets: tuple[str, ...]
    pod_subnets: Mapping[str, str]
    """Availability zone -> name of the subnet for pod addresses; empty where pods share the node subnets."""
    system_pools: tuple[PoolPlan, ...]
    images: Mapping[str, ImagePlan]
    node_security_group_ids: tuple[pulumi.Input[str], ...] = ()
    bucket_arns: tuple[pulumi.Input[str], ...] = ()
    """Buckets that the S3 driver may mount."""
    kms_key_arn: pulumi.Input[str] | None = None
    after: tuple[pulumi.Resource, ...] = ()
    """What nodes need at boot and must outlive them: the ways out of their network."""


class GpuCluster(pulumi.ComponentResource):
    """An EKS cluster: private endpoint, encrypted secrets, access entries only, pod identity, pinned add-ons."""

    cluster_name: pulumi.Output[str]
    """Name of the cluster."""
    cluster_arn: pulumi.Output[str]
    """ARN of the cluster."""
    endpoint: pulumi.Output[str]
    """Address of the API server."""
    certificate_authority: pulumi.Output[str]
    """Certificate of the API server's authority, in base64."""
    service_cidr: pulumi.Output[str]
    """Address block of Kubernetes services."""
    security_group_id: pulumi.Output[str]
    """Id of the security group that EKS makes for control plane and nodes."""
    kms_key_arn: pulumi.Output[str]
    """ARN of the key that encrypts secrets and logs."""
    kubeconfig_command: pulumi.Output[str]
    """Command that adds the cluster to a kubeconfig."""

    def __init__(
        self,
        name: str,
        args: GpuClusterArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: ClusterBuild | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_cluster

            planned = plan_cluster(name, args)
        super().__init__("gpukit:index:GpuCluster", name, None, opts)
        self._name, self._planned = name, planned
        self._principals = _short_names([access.principal_arn for access in planned.plan.access])
        self._child = pulumi.ResourceOptions(parent=self)

        key_arn = planned.kms_key_arn or make_encryption_key(
            name, purpose="secrets, logs and volumes", region=planned.region, tags=planned.tags, opts=self._child
        )
        cluster = self._make_control_plane(key_arn)
        self._make_access(cluster)
        self.connection = ClusterConnection(
            name=cluster.name,
            endpoint=cluster.endpoint,
            certificate_authority=cluster.certificate_authority.data,
            service_cidr=cluster.kubernetes_network_config.service_ipv4_cidr,
            security_group_id=cluster.vpc_config.cluster_security_group_id,
        )
        self.boot_log = make_boot_log(
            f"{name}-boot",
            name=f"/gpukit/{planned.cluster_name}/boot",
            tags=planned.tags,
            kms_key_arn=key_arn,
            opts=self._child,
        )
        early = [addon for addon in planned.plan.addons if addon.name in BEFORE_NODES]
        late = [addon for addon in planned.plan.addons if addon.name not in BEFORE_NODES]
        self.before_nodes = [self._make_addon(cluster, addon, self._child) for addon in early]
        system = self._make_system_pools(key_arn)
        after_system = pulumi.ResourceOptions(parent=self, depends_on=[*self.before_nodes, *system])
        for addon in late:
            self._make_addon(cluster, addon, after_system)

        self.cluster_name = cluster.name
        self.cluster_arn = cluster.arn
        self.endpoint = cluster.endpoint
        self.certificate_authority = pulumi.Output.from_input(self.connection.certificate_authority)
        self.service_cidr = pulumi.Output.from_input(self.connection.service_cidr)
        self.security_group_id = pulumi.Output.from_input(self.connection.security_group_id)
        self.kms_key_arn = pulumi.Output.from_input(key_arn)
        self.kubeconfig_command = pulumi.Output.format(
            "aws eks update-kubeconfig --region {0} --name {1}", planned.region, cluster.name
        )
        self.register_outputs(
            {
                "clusterName": self.cluster_name,
                "clusterArn": self.cluster_arn,
                "endpoint": self.endpoint,
                "certificateAuthority": self.certificate_authority,
                "serviceCidr": self.service_cidr,
                "securityGroupId": self.security_group_id,
                "kmsKeyArn": self.kms_key_arn,
                "kubeconfigCommand": self.kubeconfig_command,
            }
        )

    @classmethod
    def from_plan(cls, name: str, planned: ClusterBuild, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Build what a plan has decided."""
        return cls(name, cast(GpuClusterArgs, {}), opts, planned=planned)

    def _make_control_plane(self, key_arn: pulumi.Input[str]) -> Any:
        import pulumi_aws as aws

        planned, plan = self._planned, self._planned.plan
        role, rights = make_role(
            f"{self._name}-control-plane",
            trust=render_trust_policy("eks.amazonaws.com", actions=("sts:AssumeRole", "sts:TagSession")),
            description="EKS control plane",
            managed={"cluster": "AmazonEKSClusterPolicy"},
            tags=planned.tags,
            opts=self._child,
        )
        # EKS makes this log group by itself, without retention and key, unless it is there first.
        log = aws.cloudwatch.LogGroup(
            f"{self._name}-control-plane",
            name=f"/aws/eks/{planned.cluster_name}/cluster",
            retention_in_days=plan.log_retention_days,
            kms_key_id=key_arn,
            tags=dict(planned.tags),
            opts=self._child,
        )
        return aws.eks.Cluster(
            f"{self._name}-cluster",
            name=planned.cluster_name,
            version=plan.version,
            role_arn=role.arn,
            access_config={
                "authentication_mode": "API",
                # Whoever creates the cluster administers it. A change here replaces the cluster, so it never changes.
                "bootstrap_cluster_creator_admin_permissions": True,
            },
            # add-ons come by exact version below; without this EKS installs its own, unmanaged copies first
            bootstrap_self_managed_addons=False,
            vpc_config={
                "subnet_ids": [planned.subnet_ids[subnet] for subnet in planned.control_plane_subnets],
                "endpoint_private_access": plan.private_endpoint,
                "endpoint_public_access": bool(plan.public_endpoint_cidrs),
                **({"public_access_cidrs": list(plan.public_endpoint_cidrs)} if plan.public_endpoint_cidrs else {}),
            },
            encryption_config={"resources": ["secrets"], "provider": {"key_arn": key_arn}},
            enabled_cluster_log_types=list(plan.log_types),
            upgrade_policy={"support_type": "STANDARD"},
            tags=dict(planned.tags),
            opts=pulumi.ResourceOptions(parent=self, depends_on=[*rights, log]),
        )

    def _make_access(self, cluster: Any) -> None:
        import pulumi_aws as aws

        entries: dict[str, Any] = {}
        for access in self._planned.plan.access:
            principal = access.principal_arn
            short = f"{self._name}-{self._principals[principal]}"
            if principal not in entries:
                entries[principal] = aws.eks.AccessEntry(
                    short,
                    cluster_name=cluster.name,
                    principal_arn=principal,
                    type="STANDARD",
                    tags=dict(self._planned.tags),
                    opts=self._child,
                )
            policy = _ACCESS_POLICIES[access.policy, bool(access.namespaces)]
            scope: dict[str, Any] = {"type": "cluster"}
            if access.namespaces:
                scope = {"type": "namespace", "namespaces": list(access.namespaces)}
            aws.eks.AccessPolicyAssociation(
                f"{short}-{access.policy}",
                cluster_name=cluster.name,
                principal_arn=principal,
                policy_arn=pulumi.Output.format(
                    "arn:{0}:eks::aws:cluster-access-policy/{1}", partition(self._child), policy
                ),
                access_scope=scope,
                opts=pulumi.ResourceOptions(parent=self, depends_on=[entries[principal]]),
            )

    def _make_addon(self, cluster: Any, addon: AddonPlan, opts: pulumi.ResourceOptions) -> pulumi.Resource:
        import pulumi_aws as aws

        identities, rights = self._make_addon_identity(addon)
        made: pulumi.Resource = aws.eks.Addon(
            f"{self._name}-{addon.name}",
            cluster_name=cluster.name,
            addon_name=addon.name,
            addon_version=addon.version,
            configuration_values=self._addon_configuration(cluster, addon),
            pod_identity_associations=identities,
            resolve_conflicts_on_create="OVERWRITE",
            resolve_conflicts_on_update="OVERWRITE",
            tags=dict(self._planned.tags),
            opts=pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=rights)),
        )
        return made

    def _make_addon_identity(self, addon: AddonPlan) -> tuple[list[dict[str, Any]] | None, list[pulumi.Resource]]:
        """Create the role of an add-on that calls AWS; return its associations, and what must stand before it."""
        import pulumi_aws as aws

        planned = self._planned
        if addon.name in ADDON_RIGHTS:
            needs = ADDON_RIGHTS[addon.name]
            role, rights = make_role(
                f"{self._name}-{addon.name}",
                trust=POD_IDENTITY_TRUST,
                description=f"EKS add-on {addon.name}",
                managed={"rights": needs.policy},
                tags=planned.tags,
                opts=self._child,
            )
            return [{"role_arn": role.arn, "service_account": needs.service_account}], rights
        if addon.name == S3_DRIVER and planned.bucket_arns:
            role, _ = make_role(
                f"{self._name}-{addon.name}",
                trust=POD_IDENTITY_TRUST,
                description=f"EKS add-on {addon.name}",
                managed={},
                tags=planned.tags,
                opts=self._child,
            )
            policy = aws.iam.RolePolicy(
                f"{self._name}-{addon.name}",
                role=role.id,
                policy=pulumi.Output.all(*planned.bucket_arns).apply(
                    lambda arns: render_bucket_policy(read=[], write=arns)
                ),
                opts=self._child,
            )
            return [{"role_arn": role.arn, "service_account": S3_DRIVER_ACCOUNT}], [policy]
        return None, []

    def _addon_configuration(self, cluster: Any, addon: AddonPlan) -> pulumi.Input[str] | None:
        planned = self._planned
        if addon.name != "vpc-cni":
            return None
        if not planned.pod_subnets:
            return render_prefix_configuration()
        return render_pod_network_configuration(
            planned.region,
            {zone: planned.subnet_ids[subnet] for zone, subnet in planned.pod_subnets.items()},
            [cluster.vpc_config.cluster_security_group_id],
        )

    def _make_system_pools(self, key_arn: pulumi.Input[str]) -> Sequence[pulumi.Resource]:
        planned = self._planned
        return [
            GpuNodePool.from_plan(
                pool.name,
                NodePoolBuild(
                    pool=pool,
                    image=planned.images[pool.image],
                    cluster=self.connection,
                    subnet_ids=planned.subnet_ids,
                    security_group_ids=planned.node_security_group_ids,
                    region=planned.region,
                    tags=planned.tags,
                    boot_log=self.boot_log,
                    kms_key_arn=key_arn,
                    after=(*planned.after, *self.before_nodes),
                ),
                self._child,
            )
            for pool in planned.system_pools
        ]


def _short_names(principals: Sequence[str]) -> dict[str, str]:
    """Return a short name for each principal: the last word of its ARN, numbered where two end alike."""
    names: dict[str, str] = {}
    for principal in principals:
        if principal in names:
            continue
        word = principal.rsplit("/", 1)[-1].rsplit(":", 1)[-1]
        alike = sum(1 for other in names if other.rsplit("/", 1)[-1].rsplit(":", 1)[-1] == word)
        names[principal] = f"{word}-{alike + 1}" if alike else word
    return names
