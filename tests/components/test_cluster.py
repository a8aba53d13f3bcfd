"""The EKS control plane: private, encrypted, by access entries, add-ons in an order that works."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plans
from gpukit_components.cluster import ClusterBuild, GpuCluster
from recorder import Recorder

BUILD = ClusterBuild(
    cluster_name="ml-test",
    plan=plans.KUBERNETES,
    region="us-east-1",
    tags=plans.TAGS,
    subnet_ids={f"system-{plans.ZONE}": "subnet-a", "system-us-east-1b": "subnet-b", "pods": "subnet-pods"},
    control_plane_subnets=(f"system-{plans.ZONE}", "system-us-east-1b"),
    pod_subnets={},
    system_pools=(plans.system_pool(),),
    images={"system": plans.SYSTEM_IMAGE},
    bucket_arns=("arn:aws:s3:::ml-data",),
)


def _build(recorded: Callable[..., Recorder], **changes: Any) -> Recorder:
    return recorded(lambda: GpuCluster.from_plan("ml", replace(BUILD, **changes)))


def test_api_server_is_private_unless_somebody_is_let_in_by_address(recorded: Callable[..., Recorder]) -> None:
    closed = _build(recorded).one("Cluster").inputs["vpcConfig"]
    opened = _build(recorded, plan=replace(plans.KUBERNETES, public_endpoint_cidrs=("198.51.100.0/24",)))

    assert closed["endpointPrivateAccess"] is True
    assert closed["endpointPublicAccess"] is False
    assert opened.one("Cluster").inputs["vpcConfig"]["publicAccessCidrs"] == ["198.51.100.0/24"]


def test_cluster_knows_access_entries_only(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    assert made.one("Cluster").inputs["accessConfig"]["authenticationMode"] == "API"
    assert {entry.inputs["principalArn"] for entry in made.of("AccessEntry")} == {
        access.principal_arn for access in plans.KUBERNETES.access
    }


def test_rights_are_as_wide_as_the_plan_says(recorded: Callable[..., Recorder]) -> None:
    found = {
        item.inputs["principalArn"]: (item.inputs["policyArn"].rsplit("/", 1)[-1], item.inputs["accessScope"])
        for item in _build(recorded).of("AccessPolicyAssociation")
    }

    assert found == {
        "arn:aws:iam::111122223333:role/platform": ("AmazonEKSClusterAdminPolicy", {"type": "cluster"}),
        "arn:aws:iam::111122223333:role/vision": (
            "AmazonEKSEditPolicy",
            {"type": "namespace", "namespaces": ["vision"]},
        ),
        "arn:aws:iam::444455556666:role/platform": ("AmazonEKSViewPolicy", {"type": "cluster"}),
    }


def test_principals_that_end_alike_get_names_of_their_own(recorded: Callable[..., Recorder]) -> None:
    names = {entry.name for entry in _build(recorded).of("AccessEntry")}

    assert names == {"ml-platform", "ml-vision", "ml-platform-2"}


def test_secrets_and_logs_are_encrypted_and_logs_are_kept_for_a_stated_time(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    key = "arn:aws:mock:us-east-1:111122223333:ml-key"
    assert made.one("Cluster").inputs["encryptionConfig"] == {"resources": ["secrets"], "provider": {"keyArn": key}}
    log = made.one("LogGroup", "ml-control-plane").inputs
    assert (log["name"], log["retentionInDays"], log["kmsKeyId"]) == ("/aws/eks/ml-test/cluster", 90, key)
    assert made.one("Cluster").inputs["enabledClusterLogTypes"] == ["api", "audit"]


def test_cluster_waits_for_its_role_and_its_log_group(recorded: Callable[..., Recorder]) -> None:
    waits_for = {urn.rsplit("::", 1)[-1] for urn in _build(recorded).one("Cluster").depends_on}

    assert {"ml-control-plane-cluster", "ml-control-plane"} <= waits_for


def test_network_add_ons_come_before_nodes_and_all_others_after(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    before = {"ml-vpc-cni", "ml-kube-proxy", "ml-eks-pod-identity-agent"}
    nodes_wait_for = {urn.rsplit("::", 1)[-1] for urn in made.one("NodeGroup").depends_on}
    for addon in made.of("Addon"):
        waits_for = {urn.rsplit("::", 1)[-1] for urn in addon.depends_on}
        if addon.name in before:
            assert "system" not in waits_for
        else:
            assert "system" in waits_for, addon.name
    assert before <= nodes_wait_for


def test_every_add_on_has_its_exact_version(recorded: Callable[..., Recorder]) -> None:
    found = {item.inputs["addonName"]: item.inputs["addonVersion"] for item in _build(recorded).of("Addon")}

    assert found == {addon.name: addon.version for addon in plans.KUBERNETES.addons}


def test_add_ons_that_call_aws_get_a_role_of_their_own_by_pod_identity(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded)

    accounts = {
        item.inputs["addonName"]: item.inputs["podIdentityAssociations"][0]["serviceAccount"]
        for item in made.of("Addon")
        if "podIdentityAssociations" in item.inputs
    }
    assert accounts == {
        "vpc-cni": "aws-node",
        "aws-ebs-csi-driver": "ebs-csi-controller-sa",
        "aws-mountpoint-s3-csi-driver": "s3-csi-driver-sa",
    }
    assert "pods.eks.amazonaws.com" in made.one("Role", "ml-vpc-cni").inputs["assumeRolePolicy"]


def test_s3_driver_may_use_the_buckets_of_the_stack_and_no_other(recorded: Callable[..., Recorder]) -> None:
    policy = json.loads(_build(recorded).one("RolePolicy", "ml-aws-mountpoint-s3-csi-driver").inputs["policy"])

    named = {arn.removesuffix("/*") for statement in policy["Statement"] for arn in statement["Resource"]}
    assert named == {"arn:aws:s3:::ml-data"}


def test_pods_take_whole_prefixes_as_the_plan_counts_them(recorded: Callable[..., Recorder]) -> None:
    values = json.loads(_build(recorded).one("Addon", "ml-vpc-cni").inputs["configurationValues"])

    assert values["env"]["ENABLE_PREFIX_DELEGATION"] == "true"


def test_pod_subnets_are_told_to_the_network_add_on_by_zone(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, pod_subnets={plans.ZONE: "pods"})

    values = json.loads(made.one("Addon", "ml-vpc-cni").inputs["configurationValues"])
    assert values["eniConfig"]["subnets"] == {plans.ZONE: {"id": "subnet-pods", "securityGroups": ["sg-cluster"]}}
    assert values["env"]["AWS_VPC_K8S_CNI_CUSTOM_NETWORK_CFG"] == "true"


def test_unmanaged_copies_of_add_ons_are_not_installed(recorded: Callable[..., Recorder]) -> None:
    assert _build(recorded).one("Cluster").inputs["bootstrapSelfManagedAddons"] is False


def test_given_key_is_used_and_none_is_made(recorded: Callable[..., Recorder]) -> None:
    made = _build(recorded, kms_key_arn="arn:aws:kms:us-east-1:111122223333:key/1")

    assert made.of("Key") == []
    assert made.one("LogGroup", "ml-control-plane").inputs["kmsKeyId"] == "arn:aws:kms:us-east-1:111122223333:key/1"
