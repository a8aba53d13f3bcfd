"""A stack file with `build: true`, planned by the core and built: the pipeline, and what each kind of bump changes."""

from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from gpukit_components import build
from recorder import Recorder

from gpukit.plan import Plan
from gpukit.planning import plan_from_mapping

Record = Callable[..., Recorder]

BUILT = {"build": True, "packages": {"numpy": "2.2.6"}}
AMI = "ami-0123456789abcdef0"


def plan_of(image: dict[str, Any], **changes: Any) -> Plan:
    pools = {
        "train": {"instance_type": "g6e.xlarge", "nodes": 2, "image": "pytorch"},
        "system": {"role": "system", "instance_type": "m7i.xlarge", "nodes": 2},
    }
    stack = {"name": "vision", "region": "us-east-1", "images": {"pytorch": {"framework": "pytorch", **image}}}
    plan = plan_from_mapping({**stack, "pools": pools, **changes}, today=date(2026, 12, 1)).plan
    assert plan is not None
    return plan


def build_resources(made: Recorder) -> list[str]:
    children = [item for item in made.resources if "FrameworkImage" in item.parent]
    return sorted(item.short for item in children if item.type.startswith("aws:"))


def changed(before: Recorder, after: Recorder) -> set[str]:
    old = {(item.short, item.name): item.inputs for item in before.resources}
    new = {(item.short, item.name): item.inputs for item in after.resources}
    assert old.keys() == new.keys()
    return {f"{short}:{name}" for (short, name), inputs in new.items() if inputs != old[(short, name)]}


def test_a_built_image_makes_a_pipeline_without_schedule_and_a_repository(recorded: Record) -> None:
    made = recorded(lambda: build(plan_of(BUILT)))

    assert build_resources(made) == [
        "Component",
        "Component",
        "Component",
        "DistributionConfiguration",
        "ImagePipeline",
        "ImageRecipe",
        "InfrastructureConfiguration",
        "InstanceProfile",
        "LifecyclePolicy",
        "Repository",
        "Role",
        "RolePolicyAttachment",
        "RolePolicyAttachment",
    ]
    assert "schedule" not in made.one("ImagePipeline").inputs
    assert made.one("Repository").inputs["name"] == "gpukit/vision-dev-pytorch"
    assert "numpy==2.2.6" in made.one("Component", "pytorch-python").inputs["data"]


def test_the_stack_exports_pipeline_and_repository(recorded: Record) -> None:
    exports = recorded(lambda: build(plan_of(BUILT))).exports

    assert set(exports["image_pipelines"]) == {"pytorch"}
    assert exports["image_pipelines"]["pytorch"].endswith(":pytorch-pipeline")
    assert set(exports["image_repositories"]) == {"pytorch"}


def test_a_stack_that_builds_no_image_has_neither(recorded: Record) -> None:
    made = recorded(lambda: build(plan_of({})))

    assert build_resources(made) == []
    assert not [item for item in made.of("SecurityGroup") if "builder" in item.name]
    assert "image_pipelines" not in made.exports


def test_the_recipe_stands_on_the_one_ami_with_the_releases_dated_name(recorded: Record) -> None:
    made = recorded(lambda: build(plan_of(BUILT)))
    (asked,) = [args for token, args in made.calls if token == "aws:ec2/getAmi:getAmi"]

    assert asked["owners"] == ["amazon"]
    assert asked["filters"][0] == {
        "name": "name",
        "values": ["amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260728"],
    }
    assert "mostRecent" not in asked, "two AMIs with that name must be an error, not a choice"
    assert made.one("ImageRecipe").inputs["parentImage"] == "ami-0fedcba9876543210"


def test_the_builder_stands_in_a_private_subnet_and_nobody_may_call_it(recorded: Record) -> None:
    made = recorded(lambda: build(plan_of(BUILT)))
    infrastructure = made.one("InfrastructureConfiguration").inputs
    group = made.one("SecurityGroup", "vision-image-builder").inputs

    assert infrastructure["subnetId"].startswith("vision-system-")
    assert infrastructure["securityGroupIds"] == ["vision-image-builder-id"]
    assert group["ingress"] == []


def test_all_that_the_build_makes_carries_the_stacks_tags(recorded: Record) -> None:
    plan = plan_of(BUILT)
    made = recorded(lambda: build(plan))

    for item in made.resources:
        if "FrameworkImage" in item.parent and item.short not in ("RolePolicyAttachment", "LifecyclePolicy"):
            assert plan.tags.items() <= item.inputs["tags"].items(), item.type


@pytest.mark.parametrize(
    ("after", "resources"),
    [
        pytest.param(
            {**BUILT, "packages": {"numpy": "2.3.1"}},
            # the pipeline follows by the recipe's ARN, which here is made of its name
            {"Component:pytorch-python", "ImageRecipe:pytorch-recipe"},
            id="a package",
        ),
        pytest.param({**BUILT, "ami_id": AMI}, {"LaunchTemplate:train-1", "NodeGroup:train-1"}, id="the built AMI"),
        pytest.param(BUILT, set(), id="nothing"),
    ],
)
def test_a_bump_changes_exactly_what_it_names(recorded: Record, after: dict[str, Any], resources: set[str]) -> None:
    before = recorded(lambda: build(plan_of(BUILT)))

    assert changed(before, recorded(lambda: build(plan_of(after)))) == resources


def test_nodes_run_the_release_until_the_built_ami_is_pinned(recorded: Record) -> None:
    before = recorded(lambda: build(plan_of(BUILT)))
    after = recorded(lambda: build(plan_of({**BUILT, "ami_id": AMI})))

    assert before.one("NodeGroup", "train-1").inputs["releaseVersion"] == "1.36.2-20260728"
    assert "imageId" not in before.one("LaunchTemplate", "train-1").inputs
    assert after.one("LaunchTemplate", "train-1").inputs["imageId"] == AMI
    assert "releaseVersion" not in after.one("NodeGroup", "train-1").inputs
