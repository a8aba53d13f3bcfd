"""Launch templates and node groups: exactly what the plan says, once per group."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plans
import pytest
from gpukit_components.boot_log import BootLog
from gpukit_components.node_pool import ClusterConnection, GpuNodePool, NodePoolBuild
from recorder import Recorder

from gpukit.plan import BucketAccessPlan, CapacityPlan, ImagePlan, NodeGroupPlan, PoolPlan, UpdatePlan

CLUSTER = ClusterConnection(
    name="ml-test",
    endpoint="https://cluster.example",
    certificate_authority="Y2E=",
    service_cidr="172.20.0.0/16",
    security_group_id="sg-cluster",
)
SUBNETS = {f"gpu-{plans.ZONE}": "subnet-gpu", f"system-{plans.ZONE}": "subnet-a", "system-us-east-1b": "subnet-b"}


def _build(
    recorded: Callable[..., Recorder], pool: PoolPlan, image: ImagePlan = plans.EKS_IMAGE, **changes: Any
) -> Recorder:
    build = NodePoolBuild(
        pool=pool,
        image=image,
        cluster=CLUSTER,
        subnet_ids=SUBNETS,
        region="us-east-1",
        tags=plans.TAGS,
        vpc_id="vpc-1",
        kms_key_arn="key",
    )
    return recorded(lambda: GpuNodePool.from_plan(pool.name, replace(build, **changes)))


def _one_group(recorded: Callable[..., Recorder], group: NodeGroupPlan) -> tuple[dict[str, Any], dict[str, Any]]:
    made = _build(recorded, plans.pool((group,)))
    return made.one("LaunchTemplate").inputs, made.one("NodeGroup").inputs


def test_capacity_block_group_names_market_reservation_and_type_and_has_no_placement_group(
    recorded: Callable[..., Recorder],
) -> None:
    """aws/terraform-provider-aws#40876: the template carries the market, the node group the capacity type."""
    template, group = _one_group(recorded, plans.capacity_block_group(1))

    assert template["instanceMarketOptions"] == {"marketType": "capacity-block"}
    assert template["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": "cr-0123456789abcde01"}
    }
    assert template["instanceType"] == "p5en.48xlarge"
    assert "placement" not in template
    assert group["capacityType"] == "CAPACITY_BLOCK"
    assert "instanceTypes" not in group
    assert group["scalingConfig"] == {"desiredSize": 64, "minSize": 64, "maxSize": 64}


def test_reservation_group_makes_no_placement_group_and_no_market(recorded: Callable[..., Recorder]) -> None:
    """eksctl-io/eksctl#7949: a hidden placement group splits the reservation."""
    group = plans.node_group(
        capacity=CapacityPlan(mode="reserved", reservation_id="cr-0123456789abcdef0"),
        placement_group=None,
        owns_placement_group=False,
    )
    made = _build(recorded, plans.pool((group,)))

    assert made.of("PlacementGroup") == []
    template = made.one("LaunchTemplate").inputs
    assert "instanceMarketOptions" not in template
    assert "placement" not in template
    assert template["capacityReservationSpecification"]["capacityReservationTarget"] == {
        "capacityReservationId": "cr-0123456789abcdef0"
    }


def test_resource_group_of_reservations_is_targeted_by_arn(recorded: Callable[..., Recorder]) -> None:
    arn = "arn:aws:resource-groups:us-east-1:111122223333:group/train"
    template, _ = _one_group(
        recorded, plans.node_group(capacity=CapacityPlan(mode="reserved", reservation_group_arn=arn))
    )

    assert template["capacityReservationSpecification"]["capacityReservationTarget"] == {
        "capacityReservationResourceGroupArn": arn
    }


def test_owned_placement_group_is_made_once_for_all_groups_of_a_pool(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, plans.pool((plans.node_group("train-1"), plans.node_group("train-2"))))

    assert made.one("PlacementGroup").inputs["strategy"] == "cluster"
    for template in made.of("LaunchTemplate"):
        assert template.inputs["placement"] == {"groupName": "ml-test-train"}


def test_placement_group_of_others_is_named_and_not_made(recorded: Callable[..., Recorder]) -> None:
    group = plans.node_group(placement_group="theirs", owns_placement_group=False)
    made = _build(recorded, plans.pool((group,)))

    assert made.of("PlacementGroup") == []
    assert made.one("LaunchTemplate").inputs["placement"] == {"groupName": "theirs"}


def test_every_launch_template_requires_imdsv2_with_one_hop(recorded: Callable[..., Recorder]) -> None:
    template, _ = _one_group(recorded, plans.node_group())

    assert template["metadataOptions"] == {
        "httpEndpoint": "enabled",
        "httpTokens": "required",
        "httpPutResponseHopLimit": 1,
    }


def test_root_volume_is_encrypted_with_the_given_key(recorded: Callable[..., Recorder]) -> None:
    template, _ = _one_group(recorded, plans.node_group())

    (device,) = template["blockDeviceMappings"]
    assert device["ebs"] == {
        "volumeSize": 200,
        "volumeType": "gp3",
        "encrypted": "true",
        "kmsKeyId": "key",
        "deleteOnTermination": "true",
    }


def test_network_interfaces_are_the_plans_and_carry_no_subnet_and_no_public_address(
    recorded: Callable[..., Recorder],
) -> None:
    group = plans.node_group()
    template, made_group = _one_group(recorded, group)

    interfaces = template["networkInterfaces"]
    assert [(i["networkCardIndex"], i["deviceIndex"], i["interfaceType"]) for i in interfaces] == [
        (i.network_card, i.device_index, i.interface_type) for i in group.network_interfaces
    ]
    for interface in interfaces:
        assert interface["securityGroups"] == ["sg-cluster", "train-efa-id"]
        assert "subnetId" not in interface
        assert "associatePublicIpAddress" not in interface
    assert made_group["subnetIds"] == ["subnet-gpu"]


def test_pool_with_a_given_efa_group_makes_none(recorded: Callable[..., Recorder]) -> None:
    made = _build(
        recorded, plans.pool((plans.node_group(),)), efa_security_group_id="sg-efa", security_group_ids=("sg-fs",)
    )

    assert made.of("SecurityGroup") == []
    groups = made.one("LaunchTemplate").inputs["networkInterfaces"][0]["securityGroups"]
    assert groups == ["sg-cluster", "sg-fs", "sg-efa"]


def test_pool_makes_its_own_efa_group_where_none_is_given(recorded: Callable[..., Recorder]) -> None:
    group = _build(recorded, plans.pool((plans.node_group(),))).one("SecurityGroup", "train-efa")

    assert group.inputs["ingress"][0]["self"] is True
    assert group.inputs["egress"][0]["self"] is True


def test_released_image_is_pinned_by_release_and_named_in_the_group_alone(recorded: Callable[..., Recorder]) -> None:
    template, group = _one_group(recorded, plans.node_group())

    assert (group["amiType"], group["releaseVersion"]) == ("AL2023_x86_64_NVIDIA", "1.34.2-20260714")
    assert "imageId" not in template
    # EKS adds the cluster's part itself, and refuses a second copy
    assert "apiServerEndpoint" not in base64.b64decode(template["userData"]).decode()


def test_image_by_id_is_named_in_the_template_alone_and_told_about_its_cluster(
    recorded: Callable[..., Recorder],
) -> None:
    made = _build(recorded, plans.pool((plans.node_group(),)), plans.AMI_IMAGE, ami_id="ami-0123456789abcdef0")

    template, group = made.one("LaunchTemplate").inputs, made.one("NodeGroup").inputs
    assert template["imageId"] == "ami-0123456789abcdef0"
    assert not {"amiType", "releaseVersion", "version"} & set(group)
    text = base64.b64decode(template["userData"]).decode()
    for known in ("ml-test", "https://cluster.example", "172.20.0.0/16"):
        assert known in text


def test_several_types_stand_in_the_group_and_not_in_the_template(recorded: Callable[..., Recorder]) -> None:
    template, group = _one_group(
        recorded,
        plans.node_group(
            instance_types=("g5.xlarge", "g6.xlarge"),
            capacity=CapacityPlan(mode="spot", market_type="spot", eks_capacity_type="SPOT"),
            placement_group=None,
            owns_placement_group=False,
        ),
    )

    assert "instanceType" not in template
    assert "instanceMarketOptions" not in template
    assert group["instanceTypes"] == ["g5.xlarge", "g6.xlarge"]
    assert group["capacityType"] == "SPOT"


def test_group_that_waits_for_its_block_has_size_zero_and_a_maximum_that_eks_takes(
    recorded: Callable[..., Recorder],
) -> None:
    _, group = _one_group(recorded, plans.capacity_block_group(1, instances=0))

    assert group["scalingConfig"] == {"desiredSize": 0, "minSize": 0, "maxSize": 1}


@pytest.mark.parametrize(
    ("low", "high", "ignored"),
    [
        pytest.param(8, 8, (), id="fixed"),
        pytest.param(0, 8, ("scalingConfig.desiredSize",), id="scales"),
    ],
)
def test_desired_size_is_left_to_the_autoscaler_only_where_the_group_scales(
    recorded: Callable[..., Recorder], low: int, high: int, ignored: tuple[str, ...]
) -> None:
    made = _build(recorded, plans.pool((plans.node_group(min_instances=low, max_instances=high),)))

    assert made.one("NodeGroup").ignore_changes == ignored


@pytest.mark.parametrize(
    ("update", "config", "delete_first"),
    [
        pytest.param(
            UpdatePlan(strategy="rolling", max_unavailable=2, surge=1),
            {"maxUnavailable": 2, "updateStrategy": "DEFAULT"},
            False,
            id="on-demand",
        ),
        pytest.param(
            UpdatePlan(strategy="rolling", max_unavailable_pct=10, surge=0),
            {"maxUnavailablePercentage": 10, "updateStrategy": "MINIMAL"},
            True,
            id="reserved",
        ),
    ],
)
def test_update_never_needs_an_instance_that_the_capacity_does_not_have(
    recorded: Callable[..., Recorder], update: UpdatePlan, config: dict[str, Any], delete_first: bool
) -> None:
    """kubernetes-sigs/karpenter#2409: a surge in a full reservation never launches."""
    made = _build(recorded, plans.pool((plans.node_group(update=update),)))

    assert made.one("NodeGroup").inputs["updateConfig"] == config
    assert made.one("NodeGroup").delete_before_replace is delete_first


def test_labels_taints_and_tags_are_the_plans(recorded: Callable[..., Recorder]) -> None:
    planned = plans.node_group()
    template, group = _one_group(recorded, planned)

    assert group["labels"] == planned.labels
    assert group["taints"] == [{"key": "nvidia.com/gpu", "value": "present", "effect": "NO_SCHEDULE"}]
    assert group["tags"] == planned.tags
    tagged = {item["resourceType"]: item["tags"] for item in template["tagSpecifications"]}
    assert set(tagged) == {"instance", "volume", "network-interface"}
    assert planned.tags.items() <= tagged["instance"].items()


def test_node_role_may_join_pull_and_open_sessions_and_nothing_else(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, plans.pool((plans.node_group(),)))

    assert {item.inputs["policyArn"].rsplit("/", 1)[-1] for item in made.of("RolePolicyAttachment")} == {
        "AmazonEKSWorkerNodePolicy",
        "AmazonEC2ContainerRegistryPullOnly",
        "AmazonSSMManagedInstanceCore",
    }
    assert made.of("RolePolicy") == []


def test_node_may_write_the_end_of_its_boot_to_one_log_group(recorded: Callable[..., Recorder]) -> None:
    """awslabs/awsome-distributed-ai#188: a failed bootstrap with empty logs."""
    log = BootLog(name="/gpukit/ml-test/boot", arn="arn:aws:logs:us-east-1:111122223333:log-group:/gpukit/ml-test/boot")
    made = _build(recorded, plans.pool((plans.node_group(),)), boot_log=log)

    (statement,) = json.loads(made.one("RolePolicy").inputs["policy"])["Statement"]
    assert statement["Action"] == ["logs:CreateLogStream", "logs:PutLogEvents"]
    assert statement["Resource"] == f"{log.arn}:*"
    text = base64.b64decode(made.one("LaunchTemplate").inputs["userData"]).decode()
    assert "/gpukit/ml-test/boot" in text


def test_node_group_waits_for_its_rights_so_that_it_goes_before_them(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, plans.pool((plans.node_group(),)))

    waits_for = {urn.rsplit("::", 1)[-1] for urn in made.one("NodeGroup").depends_on}
    assert {"train-node-node", "train-node-pull", "train-node-session"} <= waits_for


def test_bucket_rights_go_to_the_pods_where_pod_identities_are_stated(recorded: Callable[..., Recorder]) -> None:
    pool = plans.pool(
        (plans.node_group(),),
        buckets=BucketAccessPlan(read=("data",), write=("checkpoints",)),
        pod_identities=("vision/trainer",),
    )
    made = _build(recorded, pool, bucket_arns={"data": "arn:aws:s3:::ml-data-1234567"})

    link = made.one("PodIdentityAssociation").inputs
    assert (link["namespace"], link["serviceAccount"]) == ("vision", "trainer")
    rights = made.one("RolePolicy").inputs
    assert rights["role"] == "train-pods-id"
    assert "arn:aws:s3:::ml-data-1234567/*" in rights["policy"]
    assert "arn:aws:s3:::checkpoints" in rights["policy"]


def test_hyper_threading_off_states_cores_and_threads_together(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, plans.pool((plans.node_group(),), node_settings={"threads_per_core": "1"}))

    assert made.one("LaunchTemplate").inputs["cpuOptions"] == {"coreCount": 96, "threadsPerCore": 1}


def test_pool_that_is_never_updated_keeps_template_and_release(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, plans.pool((plans.node_group(update=UpdatePlan(strategy="never")),)))

    assert made.one("NodeGroup").ignore_changes == ("launchTemplate", "releaseVersion")
