"""Plans written by hand: small, complete, and independent of what the core decides today."""

from dataclasses import replace

from gpukit.plan import (
    AccessPlan,
    AddonPlan,
    BudgetPlan,
    CapacityPlan,
    CoolingZonePlan,
    ImagePlan,
    KubernetesPlan,
    NetworkInterfacePlan,
    NetworkPlan,
    NodeGroupPlan,
    Plan,
    PoolPlan,
    RootVolumePlan,
    StoragePlan,
    SubnetPlan,
    TaintPlan,
    Totals,
    UpdatePlan,
    WorkstationPlan,
)

ZONE = "us-east-1a"
TAGS = {"gpukit:stack": "ml", "gpukit:environment": "test"}
GPU_TAINT = TaintPlan(key="nvidia.com/gpu", value="present", effect="NoSchedule")

EKS_IMAGE = ImagePlan(
    name="pytorch",
    framework="pytorch",
    framework_version="2.8.0",
    architecture="x86_64",
    source="eks-release",
    ami_type="AL2023_x86_64_NVIDIA",
    release_version="1.34.2-20260714",
    ami_id=None,
    ami_name=None,
    ami_owner=None,
    container="registry.example/pytorch:2.8.0",
    gib=60,
    components={"driver": "580.95"},
    environment={"NCCL_DEBUG": "WARN"},
    because="",
    reference="",
)
SYSTEM_IMAGE = replace(EKS_IMAGE, name="system", framework=None, ami_type="AL2023_x86_64_STANDARD")
AMI_IMAGE = replace(EKS_IMAGE, source="ami-id", ami_type=None, release_version=None, ami_id="ami-0123456789abcdef0")
NAMED_IMAGE = replace(
    AMI_IMAGE, source="ami-name", ami_id=None, ami_name="Deep Learning AMI GPU PyTorch 2.8 20260714", ami_owner="amazon"
)


def efa_interfaces(cards: int) -> tuple[NetworkInterfacePlan, ...]:
    """ENA on card 0, EFA without address on all other cards."""
    first = NetworkInterfacePlan(network_card=0, device_index=0, interface_type="interface", takes_address=True)
    rest = (
        NetworkInterfacePlan(network_card=card, device_index=1, interface_type="efa-only", takes_address=False)
        for card in range(1, cards)
    )
    return (first, *rest)


ONE_INTERFACE = efa_interfaces(1)


def node_group(name: str = "train-1", pool: str = "train", *, instances: int = 8, **changes: object) -> NodeGroupPlan:
    """A group of on-demand EFA nodes with a placement group of its own."""
    interfaces = efa_interfaces(16)
    group = NodeGroupPlan(
        name=name,
        pool=pool,
        instance_type="p5en.48xlarge",
        instance_types=("p5en.48xlarge",),
        instances=instances,
        min_instances=instances,
        max_instances=instances,
        availability_zones=(ZONE,),
        availability_zone=ZONE,
        capacity=CapacityPlan(mode="on-demand"),
        placement_group="ml-test-train",
        owns_placement_group=True,
        network_interfaces=interfaces,
        efa_interfaces=15,
        subnets=(f"gpu-{ZONE}",),
        subnet=f"gpu-{ZONE}",
        labels={"gpukit/pool": pool, "gpukit/cooling-zone": "hall-a", "gpukit/cooling-method": "liquid"},
        taints=(GPU_TAINT,),
        tags={**TAGS, "gpukit:pool": pool},
        image="pytorch",
        root_gib=200,
        root_volume=RootVolumePlan(gib=200, volume_type="gp3"),
        update=UpdatePlan(strategy="rolling", max_unavailable=1, surge=1),
        gpus=8 * instances,
    )
    return replace(group, **changes)  # type: ignore[arg-type]


def capacity_block_group(index: int, *, instances: int = 64) -> NodeGroupPlan:
    """A group that fills one Capacity Block."""
    return node_group(
        f"train-{index}",
        instances=instances,
        capacity=CapacityPlan(
            mode="capacity-block",
            reservation_id=f"cr-0123456789abcde{index:02x}",
            market_type="capacity-block",
            eks_capacity_type="CAPACITY_BLOCK",
        ),
        placement_group=None,
        owns_placement_group=False,
        update=UpdatePlan(strategy="rolling", max_unavailable=1, surge=0),
    )


def pool(groups: tuple[NodeGroupPlan, ...], name: str = "train", **changes: object) -> PoolPlan:
    """The pool of some groups."""
    nodes = sum(group.instances for group in groups)
    made = PoolPlan(
        name=name,
        role="gpu",
        instance_type=groups[0].instance_type,
        architecture="x86_64",
        gpu_model="H200",
        gpus_per_node=8,
        nodes=nodes,
        min_nodes=nodes,
        max_nodes=nodes,
        gpus=8 * nodes,
        vcpu_per_node=192,
        memory_gib_per_node=2048.0,
        efa=groups[0].efa_interfaces > 0,
        efa_interfaces_per_node=groups[0].efa_interfaces,
        addresses_per_node=1,
        cooling_zone="hall-a",
        image=groups[0].image,
        kw_per_node=10.2,
        usd_per_node_hour=63.296,
        node_groups=groups,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def system_pool() -> PoolPlan:
    """Two system nodes in two zones."""
    group = node_group(
        "system",
        "system",
        instances=2,
        instance_type="m7i.xlarge",
        instance_types=("m7i.xlarge",),
        placement_group=None,
        owns_placement_group=False,
        network_interfaces=ONE_INTERFACE,
        efa_interfaces=0,
        max_instances=4,
        availability_zones=(ZONE, "us-east-1b"),
        availability_zone="",
        subnets=(f"system-{ZONE}", "system-us-east-1b"),
        subnet=f"system-{ZONE}",
        labels={"gpukit/pool": "system"},
        taints=(),
        image="system",
        gpus=0,
    )
    return pool((group,), "system", role="system", gpu_model=None, gpus_per_node=0, gpus=0, cooling_zone=None)


def _subnet(name: str, cidr: str, zone: str, role: str) -> SubnetPlan:
    return SubnetPlan(
        name=name, cidr=cidr, availability_zone=zone, role=role, usable_addresses=None, needed_addresses=0
    )


NETWORK = NetworkPlan(
    existing_vpc_id=None,
    cidr="10.0.0.0/16",
    pod_cidr=None,
    availability_zones=(ZONE, "us-east-1b"),
    subnets=(
        _subnet(f"gpu-{ZONE}", "10.0.0.0/18", ZONE, "gpu"),
        _subnet(f"public-{ZONE}", "10.0.66.0/28", ZONE, "public"),
        _subnet(f"system-{ZONE}", "10.0.64.0/24", ZONE, "system"),
        _subnet("system-us-east-1b", "10.0.65.0/24", "us-east-1b", "system"),
    ),
    egress="nat",
    nat_gateways=1,
    endpoints=("s3",),
    extra_security_groups=(),
    ports=(),
    flow_log_retention_days=30,
    efa=True,
    lustre=True,
)
CLOSED_NETWORK = replace(
    NETWORK,
    subnets=tuple(subnet for subnet in NETWORK.subnets if subnet.role != "public"),
    egress="endpoints",
    nat_gateways=0,
    endpoints=("ec2", "ecr.api", "ecr.dkr", "eks", "logs", "s3", "ssm", "sts"),
)

KUBERNETES = KubernetesPlan(
    version="1.34",
    private_endpoint=True,
    public_endpoint_cidrs=(),
    addons=(
        AddonPlan(name="aws-ebs-csi-driver", version="v1.63.1-eksbuild.1"),
        AddonPlan(name="aws-fsx-csi-driver", version="v1.9.0-eksbuild.1"),
        AddonPlan(name="aws-mountpoint-s3-csi-driver", version="v2.7.0-eksbuild.1"),
        AddonPlan(name="coredns", version="v1.13.2-eksbuild.11"),
        AddonPlan(name="eks-pod-identity-agent", version="v1.4.0-eksbuild.1"),
        AddonPlan(name="kube-proxy", version="v1.34.6-eksbuild.18"),
        AddonPlan(name="vpc-cni", version="v1.23.0-eksbuild.1"),
    ),
    operators=(),
    access=(
        AccessPlan(principal_arn="arn:aws:iam::111122223333:role/platform", policy="admin"),
        AccessPlan(principal_arn="arn:aws:iam::111122223333:role/vision", policy="edit", namespaces=("vision",)),
        AccessPlan(principal_arn="arn:aws:iam::444455556666:role/platform", policy="view"),
    ),
    log_types=("api", "audit"),
    log_retention_days=90,
)


def store(name: str, kind: str, **changes: object) -> StoragePlan:
    """One store, protected."""
    made = StoragePlan(
        name=name,
        kind=kind,
        role="scratch",
        mount_path=f"/{name}",
        existing_id=None,
        gib=None,
        availability_zone=None,
        deployment_type=None,
        tier_mb_s_per_tib=None,
        throughput_gb_s=None,
        efa=False,
        metadata_iops=None,
        compression=None,
        data_repository=None,
        volume_type=None,
        iops=None,
        throughput_mb_s=None,
        backup_days=0,
        protect=True,
        cache_profile=None,
        usd_per_hour=None,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


LUSTRE = store(
    "fast",
    "lustre",
    gib=38_400,
    availability_zone=ZONE,
    deployment_type="PERSISTENT_2",
    tier_mb_s_per_tib=500,
    efa=True,
    metadata_iops=12_000,
    compression="LZ4",
    data_repository="data",
)
STORES = (LUSTRE, store("data", "s3"), store("homes", "efs"))

COOLING_ZONE = CoolingZonePlan(
    name="hall-a",
    method="liquid",
    availability_zone=ZONE,
    racks=14,
    envelope_kw=2000.0,
    nodes=8,
    gpus=64,
    it_kw=81.6,
    kw_per_rack=5.83,
    used_pct=4.08,
    pools=("train",),
)

NO_TOTALS = Totals(
    gpus=0,
    nodes=0,
    node_groups=0,
    efa_interfaces=0,
    helper_nodes=0,
    hourly_usd=None,
    monthly_usd=None,
    unpriced=0,
    it_kw=None,
    facility_kw=None,
    kgco2e_per_month=None,
    dense_bf16_pflops=None,
)


def cluster_plan(pools: tuple[PoolPlan, ...] | None = None, **changes: object) -> Plan:
    """A cluster with everything that a cluster can have."""
    pools = pools if pools is not None else (pool((node_group(),)),)
    plan = Plan(
        name="ml",
        kind="cluster",
        preset=None,
        environment="test",
        team=None,
        region="us-east-1",
        tags=TAGS,
        protect=True,
        ends=None,
        totals=replace(
            NO_TOTALS, gpus=sum(p.gpus for p in pools), nodes=sum(p.nodes for p in pools), hourly_usd=506.37
        ),
        pools=pools,
        helper_pools=(system_pool(),),
        network=NETWORK,
        kubernetes=KUBERNETES,
        workstation=None,
        storage=STORES,
        images=(EKS_IMAGE, SYSTEM_IMAGE),
        cooling_zones=(COOLING_ZONE,),
        budget=BudgetPlan(
            hourly_usd=600.0, monthly_usd=60_000.0, notify=("team@example.com",), alert_pct=(50, 80, 100)
        ),
        costs=(),
        limits=(),
        not_built=(),
        decisions=(),
    )
    return replace(plan, **changes)  # type: ignore[arg-type]


def thousand_plan(nodes: int = 128) -> Plan:
    """Two Capacity Blocks that share `nodes`."""
    half = nodes // 2
    return cluster_plan(
        (pool((capacity_block_group(1, instances=half), capacity_block_group(2, instances=nodes - half))),)
    )


def workstation_plan(**changes: object) -> Plan:
    """One GPU in one instance."""
    group = node_group(
        "box",
        "box",
        instances=1,
        instance_type="g5.xlarge",
        instance_types=("g5.xlarge",),
        placement_group=None,
        owns_placement_group=False,
        network_interfaces=ONE_INTERFACE,
        efa_interfaces=0,
        image="pytorch",
        gpus=1,
    )
    network = replace(
        NETWORK, subnets=tuple(subnet for subnet in NETWORK.subnets if subnet.role in ("gpu", "public")), efa=False
    )
    plan = cluster_plan(
        (pool((group,), "box", gpus_per_node=1, gpus=1, vcpu_per_node=4),),
        kind="workstation",
        helper_pools=(),
        network=network,
        kubernetes=None,
        workstation=WorkstationPlan(data_volume_gib=200, data_mount_path="/data", idle_stop_minutes=60, jupyter=True),
        storage=(),
        images=(AMI_IMAGE,),
        cooling_zones=(),
    )
    return replace(plan, **changes)  # type: ignore[arg-type]
