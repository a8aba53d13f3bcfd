"""`GpuWorkstation`: one EC2 GPU instance that nobody can reach from outside and that stops when it is idle."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import NodeGroupPlan, Plan, PoolPlan, WorkstationPlan
from gpukit_components.boot_log import allow_boot_log, make_boot_log
from gpukit_components.capacity_target import render_reservation_target
from gpukit_components.encryption import make_encryption_key
from gpukit_components.identity import grant_pool_permissions, make_role, partition, render_trust_policy
from gpukit_components.network import GpuNetwork, NetworkBuild
from gpukit_components.security_groups import make_closed_security_group
from gpukit_components.stack_name import stack_name

IDLE_CPU_PCT = 2.0
"""
CPU use below which the alarm outside of the instance calls it idle.

It is a second line behind the timer, which looks at the GPUs: a process that feeds a GPU keeps a core busy, so a
machine under 2 % for the whole time feeds few GPUs, if any, even with 192 vCPU.
"""

ALARM_PERIOD_SECONDS = 300
"""Period of EC2's own metrics without detailed monitoring. Source: EC2 User Guide, "CloudWatch metrics", 2026-08."""

ALARM_GRACE_MINUTES = 30
"""How much later than the timer the alarm stops an idle instance, so that the timer always comes first."""

_ALARM_MAX_PERIODS = 288
"""One day of 300-second periods, the most that CloudWatch evaluates. Source: CloudWatch API, PutMetricAlarm."""

JUPYTER_PORT = 8888
"""Port on the loopback interface where the image's unit serves Jupyter."""

_SSH_FREE_POLICIES = {"session": "AmazonSSMManagedInstanceCore"}


class GpuWorkstationArgs(TypedDict):
    """What a workstation is made from."""

    instance_type: str
    """EC2 instance type with up to 8 GPUs."""
    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""
    availability_zone: NotRequired[str]
    """Zone; one that offers the type when left out."""
    vpc_id: NotRequired[pulumi.Input[str]]
    """Id of a VPC; a network of its own when left out."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """Id of a private subnet in that VPC and in `availability_zone`."""
    framework: NotRequired[str]
    """`pytorch`, `tensorflow`, `jax` or `none`."""
    ami_id: NotRequired[str]
    """Image to use instead of the pinned one."""
    root_gib: NotRequired[int]
    """Size of the root volume in GiB."""
    data_gib: NotRequired[int]
    """Size of the data volume in GiB."""
    idle_stop_minutes: NotRequired[int]
    """Minutes without GPU use and session after which it stops."""
    protect: NotRequired[bool]
    """Whether the data volume outlives a destroy; true when left out."""
    kms_key_arn: NotRequired[pulumi.Input[str]]
    """KMS key for the volumes; a key of its own when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags on everything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkstationBuild:
    """A decided workstation, and the ids it is placed by."""

    plan: Plan
    ami_id: pulumi.Input[str]
    vpc_id: pulumi.Input[str] | None = None
    subnet_id: pulumi.Input[str] | None = None
    network: NetworkBuild | None = None
    """The network to make, where no VPC is given."""
    kms_key_arn: pulumi.Input[str] | None = None
    security_group_ids: tuple[pulumi.Input[str], ...] = ()
    bucket_arns: Mapping[str, pulumi.Input[str]] = field(default_factory=dict)
    after: tuple[pulumi.Resource, ...] = ()
    """What the instance needs at boot and must outlive it: the ways out of its network."""

    @property
    def pool(self) -> PoolPlan:
        """The one pool of a workstation."""
        return self.plan.pools[0]

    @property
    def group(self) -> NodeGroupPlan:
        """The one group, of one instance."""
        return self.pool.node_groups[0]

    @property
    def workstation(self) -> WorkstationPlan:
        """What only a workstation has. Raises ValueError where the plan is of another kind."""
        if self.plan.workstation is None:
            raise ValueError(f"plan {self.plan.name} has no workstation")
        return self.plan.workstation


class GpuWorkstation(pulumi.ComponentResource):
    """One GPU instance: no inbound rule, no key pair, Session Manager only, encrypted volumes, idle stop."""

    instance_id: pulumi.Output[str]
    """Id of the instance."""
    private_ip: pulumi.Output[str]
    """Its private address."""
    data_volume_id: pulumi.Output[str] | None
    """Id of the data volume; none where there is none."""
    session_command: pulumi.Output[str]
    """Command that opens a shell."""
    jupyter_command: pulumi.Output[str] | None
    """Command that forwards Jupyter to this computer; none without Jupyter."""
    start_command: pulumi.Output[str]
    """Command that starts the instance after it stopped."""

    def __init__(
        self,
        name: str,
        args: GpuWorkstationArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: WorkstationBuild | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_workstation

            planned = plan_workstation(name, args)
        super().__init__("gpukit:index:GpuWorkstation", name, None, opts)
        self._name, self._planned = name, planned
        self._child = pulumi.ResourceOptions(parent=self)

        self._after = list(planned.after)
        vpc_id, subnet_id = self._place()
        key_arn = planned.kms_key_arn or make_encryption_key(
            name,
            purpose="volumes",
            region=planned.plan.region,
            tags=planned.plan.tags,
            # the data volume cannot be read without its key
            opts=self._kept(),
        )
        self._boot_log = make_boot_log(
            f"{name}-boot",
            name=f"/gpukit/{stack_name(planned.plan)}/boot",
            tags=planned.plan.tags,
            kms_key_arn=key_arn,
            opts=self._child,
        )
        group = make_closed_security_group(
            f"{name}-workstation",
            description="Workstation: calls out, takes no call",
            vpc_id=vpc_id,
            tags=planned.plan.tags,
            opts=self._child,
        )
        volume = self._make_data_volume(key_arn)
        instance = self._make_instance(subnet_id, [group.id, *planned.security_group_ids], key_arn, volume)
        if volume is not None:
            self._attach(volume, instance)
        if planned.workstation.idle_stop_minutes > 0:
            self._make_idle_alarm(instance)

        region = planned.plan.region
        self.instance_id = instance.id
        self.private_ip = instance.private_ip
        self.data_volume_id = volume.id if volume is not None else None
        self.session_command = pulumi.Output.format(
            "aws ssm start-session --region {0} --target {1}", region, instance.id
        )
        self.start_command = pulumi.Output.format(
            "aws ec2 start-instances --region {0} --instance-ids {1}", region, instance.id
        )
        self.jupyter_command = None
        if planned.workstation.jupyter:
            self.jupyter_command = pulumi.Output.format(
                "aws ssm start-session --region {0} --target {1} --document-name AWS-StartPortForwardingSession"
                " --parameters portNumber={2},localPortNumber={2}",
                region,
                instance.id,
                JUPYTER_PORT,
            )
        self.register_outputs(
            {
                "instanceId": self.instance_id,
                "privateIp": self.private_ip,
                "dataVolumeId": self.data_volume_id,
                "sessionCommand": self.session_command,
                "jupyterCommand": self.jupyter_command,
                "startCommand": self.start_command,
            }
        )

    @classmethod
    def from_plan(cls, name: str, planned: WorkstationBuild, opts: pulumi.ResourceOptions | None = None) -> Self:
        """Build what a plan has decided."""
        return cls(name, cast(GpuWorkstationArgs, {}), opts, planned=planned)

    def _place(self) -> tuple[pulumi.Input[str], pulumi.Input[str]]:
        """Return VPC and subnet, made here where none are given."""
        planned = self._planned
        if planned.network is not None:
            network = GpuNetwork.from_plan(self._name, planned.network, self._child)
            self._after += network.ways_out
            return network.vpc_id, network.subnets[planned.group.subnet]
        if planned.vpc_id is None or planned.subnet_id is None:
            raise ValueError(f"{self._name}: a workstation needs both its VPC and its subnet")
        return planned.vpc_id, planned.subnet_id

    def _kept(self) -> pulumi.ResourceOptions:
        protect = self._planned.plan.protect
        return pulumi.ResourceOptions(parent=self, protect=protect, retain_on_delete=protect)

    def _make_data_volume(self, key_arn: pulumi.Input[str]) -> Any | None:
        import pulumi_aws as aws

        planned = self._planned
        if planned.workstation.data_volume_gib <= 0:
            return None
        return aws.ebs.Volume(
            f"{self._name}-data",
            availability_zone=planned.group.availability_zone,
            size=planned.workstation.data_volume_gib,
            type="gp3",
            encrypted=True,
            kms_key_id=key_arn,
            tags={**planned.plan.tags, "Name": f"{self._name}-data"},
            opts=self._kept(),
        )

    def _make_instance(
        self,
        subnet_id: pulumi.Input[str],
        security_group_ids: list[pulumi.Input[str]],
        key_arn: pulumi.Input[str],
        volume: Any | None,
    ) -> Any:
        import pulumi_aws as aws

        planned, root = self._planned, self._planned.group.root_volume
        profile, rights = self._make_instance_profile()
        tags = {**planned.plan.tags, **planned.group.tags, "Name": self._name}
        return aws.ec2.Instance(
            f"{self._name}-instance",
            ami=planned.ami_id,
            instance_type=planned.group.instance_type,
            subnet_id=subnet_id,
            vpc_security_group_ids=security_group_ids,
            associate_public_ip_address=False,
            iam_instance_profile=profile.name,
            placement_group=planned.group.placement_group,
            capacity_reservation_specification=render_reservation_target(planned.group.capacity),
            instance_market_options=_market(planned.group),
            # the timer powers the machine off; that must stop the instance and keep its disks
            instance_initiated_shutdown_behavior="stop",
            metadata_options={
                "http_endpoint": "enabled",
                "http_tokens": "required",
                "http_put_response_hop_limit": 1,
            },
            root_block_device={
                "volume_size": root.gib,
                "volume_type": root.volume_type,
                "iops": root.iops,
                "throughput": root.throughput_mb_s,
                "encrypted": True,
                "kms_key_id": key_arn,
                "delete_on_termination": True,
                "tags": tags,
            },
            user_data=pulumi.Output.from_input(volume.id if volume is not None else "").apply(self._user_data),
            tags=tags,
            opts=pulumi.ResourceOptions(
                parent=self,
                depends_on=[*rights, *self._after],
                # two instances can neither hold the one data volume nor share one reserved place
                delete_before_replace=True,
            ),
        )

    def _user_data(self, volume_id: str) -> str:
        from gpukit.images.workstation import render_workstation_user_data

        planned = self._planned
        return render_workstation_user_data(
            planned.plan,
            planned.pool,
            planned.plan.image(planned.group.image),
            volume_id=volume_id,
            log_group=self._boot_log.name,
        )

    def _make_instance_profile(self) -> tuple[Any, list[pulumi.Resource]]:
        import pulumi_aws as aws

        planned = self._planned
        role, rights = make_role(
            f"{self._name}-workstation",
            trust=render_trust_policy("ec2.amazonaws.com"),
            description="Workstation: Session Manager and what its owner named",
            managed=_SSH_FREE_POLICIES,
            tags=planned.plan.tags,
            opts=self._child,
        )
        rights.append(allow_boot_log(f"{self._name}-boot-log", role, self._boot_log, self._child))
        rights += grant_pool_permissions(self._name, role, planned.pool, planned.bucket_arns, self._child)
        profile = aws.iam.InstanceProfile(
            f"{self._name}-workstation", role=role.name, tags=dict(planned.plan.tags), opts=self._child
        )
        return profile, rights

    def _attach(self, volume: Any, instance: Any) -> None:
        import pulumi_aws as aws

        aws.ec2.VolumeAttachment(
            f"{self._name}-data",
            device_name="/dev/sdf",
            volume_id=volume.id,
            instance_id=instance.id,
            stop_instance_before_detaching=True,
            opts=pulumi.ResourceOptions(parent=self, delete_before_replace=True),
        )

    def _make_idle_alarm(self, instance: Any) -> None:
        import pulumi_aws as aws

        planned = self._planned
        aws.cloudwatch.MetricAlarm(
            f"{self._name}-idle",
            alarm_description="Stops the workstation when it idles and its own timer did not",
            namespace="AWS/EC2",
            metric_name="CPUUtilization",
            dimensions={"InstanceId": instance.id},
            statistic="Maximum",
            period=ALARM_PERIOD_SECONDS,
            evaluation_periods=idle_alarm_periods(planned.workstation.idle_stop_minutes),
            comparison_operator="LessThanThreshold",
            threshold=IDLE_CPU_PCT,
            # a stopped instance sends nothing, and must not be called idle for it
            treat_missing_data="notBreaching",
            alarm_actions=[
                pulumi.Output.format("arn:{0}:automate:{1}:ec2:stop", partition(self._child), planned.plan.region)
            ],
            tags=dict(planned.plan.tags),
            opts=self._child,
        )


def idle_alarm_periods(idle_stop_minutes: int) -> int:
    """
    Return how many periods of 300 s the alarm waits: the idle time and half an hour, at most one day.

    60 minutes -> (60 + 30) * 60 / 300 = 18.
    """
    wanted = -(-(idle_stop_minutes + ALARM_GRACE_MINUTES) * 60 // ALARM_PERIOD_SECONDS)
    return min(wanted, _ALARM_MAX_PERIODS)


def _market(group: NodeGroupPlan) -> dict[str, Any] | None:
    capacity = group.capacity
    if capacity.market_type == "capacity-block":
        return {"market_type": "capacity-block"}
    if capacity.eks_capacity_type != "SPOT":
        return None
    options: dict[str, Any] = {"spot_instance_type": "persistent", "instance_interruption_behavior": "stop"}
    if capacity.max_usd_per_hour is not None:
        options["max_price"] = f"{capacity.max_usd_per_hour:g}"
    return {"market_type": "spot", "spot_options": options}
