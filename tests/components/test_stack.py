"""The composition: what a whole stack registers, refuses and exports."""

import json
from collections.abc import Callable
from dataclasses import replace

import plans
import pulumi
import pytest
from gpukit_components import build
from gpukit_components.refusal import PlanRefused, refuse, require_plan
from recorder import Recorder

from gpukit.finding import Finding, Position, Severity
from gpukit.plan import Plan

WHOLE = [
    pytest.param(plans.cluster_plan(), id="cluster"),
    pytest.param(plans.cluster_plan(network=plans.CLOSED_NETWORK), id="endpoints-only"),
    pytest.param(plans.thousand_plan(), id="capacity-blocks"),
    pytest.param(plans.workstation_plan(), id="workstation"),
]


def _finding(path: str, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(code="GK2041", severity=severity, path=path, problem="no such zone", why="it is not", fix="another")


@pytest.mark.parametrize("plan", WHOLE)
def test_nothing_takes_a_connection_from_the_internet(recorded: Callable[..., Recorder], plan: Plan) -> None:
    made = recorded(lambda: build(plan))

    inbound = [rule for group in made.of("SecurityGroup") for rule in group.inputs["ingress"]]
    assert not [rule for rule in inbound if "0.0.0.0/0" in rule.get("cidrBlocks", [])]
    assert made.of("SecurityGroupIngressRule") == made.of("SecurityGroupRule") == made.of("KeyPair") == []


@pytest.mark.parametrize("plan", WHOLE)
def test_preview_with_every_id_unknown_registers_the_same_resources(
    recorded: Callable[..., Recorder], plan: Plan
) -> None:
    def names(recorder: Recorder) -> list[tuple[str, str]]:
        return sorted((resource.type, resource.name) for resource in recorder.resources)

    assert names(recorded(lambda: build(plan), preview=True)) == names(recorded(lambda: build(plan)))


@pytest.mark.parametrize("plan", WHOLE)
def test_everything_that_takes_tags_carries_the_plans(recorded: Callable[..., Recorder], plan: Plan) -> None:
    untagged = {
        "Alias", "RolePolicy", "RolePolicyAttachment", "Route", "RouteTableAssociation", "VolumeAttachment",
        "BucketPublicAccessBlock", "BucketVersioning", "BucketPolicy", "TopicPolicy",
        "BucketServerSideEncryptionConfiguration", "BucketLifecycleConfiguration", "MountTarget",
        "AccessPolicyAssociation",
    }  # fmt: skip
    made = recorded(lambda: build(plan))

    for resource in made.resources:
        if resource.type.startswith("aws:") and resource.short not in untagged:
            assert plan.tags.items() <= resource.inputs["tags"].items(), resource.type


def test_a_hundred_nodes_are_as_many_resources_as_eight(recorded: Callable[..., Recorder]) -> None:
    eight = recorded(lambda: build(plans.thousand_plan(8)))
    many = recorded(lambda: build(plans.thousand_plan(128)))

    assert len(eight.resources) == len(many.resources)
    # the stack itself and the AWS provider come on top
    assert len(many.resources) + 2 <= 120


def test_node_groups_of_a_cluster_wait_for_the_network_add_ons(recorded: Callable[..., Recorder]) -> None:
    """Destroy goes backwards: nodes first, then add-ons, then security groups and subnets."""
    made = recorded(lambda: build(plans.cluster_plan()))

    for group in made.of("NodeGroup"):
        waits_for = {urn.rsplit("::", 1)[-1] for urn in group.depends_on}
        assert {"ml-vpc-cni", "ml-kube-proxy", "ml-eks-pod-identity-agent"} <= waits_for, group.name


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        pytest.param(plans.cluster_plan(), "NodeGroup", id="nodes"),
        pytest.param(plans.workstation_plan(), "Instance", id="workstation"),
    ],
)
def test_instances_boot_only_when_their_network_has_a_way_out(
    recorded: Callable[..., Recorder], plan: Plan, kind: str
) -> None:
    """A node that cannot reach the API server at boot ends as NodeCreationFailure; on destroy it goes first."""
    for resource in recorded(lambda: build(plan)).of(kind):
        assert {"ml-private-out", "ml-s3"} <= {urn.rsplit("::", 1)[-1] for urn in resource.depends_on}


def test_nodes_reach_file_systems_and_efa_by_their_groups(recorded: Callable[..., Recorder]) -> None:
    template = recorded(lambda: build(plans.cluster_plan())).one("LaunchTemplate", "train-1").inputs

    groups = template["networkInterfaces"][0]["securityGroups"]
    assert groups == ["sg-cluster", "ml-file-systems-id", "ml-efa-id"]
    assert len(groups) <= 5, "EC2 takes five security groups an interface"


def test_cluster_stack_exports_what_people_need(recorded: Callable[..., Recorder]) -> None:
    exports = recorded(lambda: build(plans.cluster_plan())).exports

    assert exports["cluster_name"] == "ml-test"
    assert exports["kubeconfig"] == "aws eks update-kubeconfig --region us-east-1 --name ml-test"
    assert exports["mount_names"] == {"fast": "abcdefgh"}
    assert exports["buckets"] == {"data": "ml-data-1234567"}
    assert exports["totals"]["gpus"] == 64
    assert exports["cooling_zones"]["hall-a"]["envelope_kw"] == 2000


def test_workstation_stack_exports_how_to_connect(recorded: Callable[..., Recorder]) -> None:
    exports = recorded(lambda: build(plans.workstation_plan())).exports

    assert exports["instance_id"] == "ml-instance-id"
    assert exports["connect"] == "aws ssm start-session --region us-east-1 --target ml-instance-id"
    assert "portNumber=8888" in exports["jupyter"]


def test_existing_cluster_makes_nothing_in_a_cloud(recorded: Callable[..., Recorder]) -> None:
    plan = plans.cluster_plan(kind="existing-cluster", kubernetes=None)

    assert recorded(lambda: build(plan)).resources == []


def test_key_policy_of_the_stack_names_no_principal_that_may_not_exist(recorded: Callable[..., Recorder]) -> None:
    """A fresh account has no service-linked role for Auto Scaling, and KMS refuses a policy that names it."""
    policy = json.loads(recorded(lambda: build(plans.cluster_plan())).one("Key", "ml-key").inputs["policy"])

    principals = [statement["Principal"] for statement in policy["Statement"]]
    assert {"AWS": "arn:aws:iam::111122223333:root"} in principals
    for statement in policy["Statement"]:
        if statement["Principal"] == {"AWS": "*"}:
            assert statement["Condition"]["StringEquals"]["kms:CallerAccount"] == "111122223333"


def test_errors_stop_before_anything_is_registered_and_all_are_told() -> None:
    findings = [_finding("pools.train.zones"), _finding("storage.fast.gib"), _finding("budget", Severity.WARNING)]

    with pytest.raises(pulumi.InputPropertiesError) as caught:
        require_plan(plans.cluster_plan(), findings)

    assert [entry["property_path"] for entry in caught.value.errors or []] == ["pools.train.zones", "storage.fast.gib"]
    assert "2 mistakes; nothing was created" in str(caught.value)


def test_refusal_ends_a_program_without_a_traceback() -> None:
    """The language host prints a RunError's text alone."""
    assert issubclass(PlanRefused, pulumi.RunError)


def test_refusal_names_file_line_and_column() -> None:
    finding = replace(_finding("pools.train.zones"), position=Position(file="Pulumi.dev.yaml", line=7, column=5))

    assert "(Pulumi.dev.yaml:7:5)" in str(refuse([finding]))


def test_warnings_do_not_stop() -> None:
    plan = plans.cluster_plan()

    assert require_plan(plan, [_finding("budget", Severity.WARNING)]) is plan
