"""The pipeline of an image of one's own: what is made, and what a bump changes."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import plans
import pulumi
import pytest
from gpukit_components.image import FrameworkImage
from recorder import Recorder

from gpukit.plan import ImagePlan

IMAGE = replace(plans.EKS_IMAGE, container="nvcr.io/nvidia/pytorch:26.03-py3")
BUILD = {"parent_image": "ami-0123456789abcdef0", "packages": {"numpy": "2.2.6"}, "tags": {"team": "vision"}}


def build(recorded: Callable[..., Recorder], image: ImagePlan = IMAGE, **changes: Any) -> Recorder:
    wish = {"region": "us-east-1", "build": {**BUILD, **changes}}
    return recorded(lambda: FrameworkImage("pytorch", wish, planned=image))  # type: ignore[arg-type]


def test_a_pipeline_is_a_dozen_resources_and_has_no_schedule(recorded: Callable[..., Recorder]) -> None:
    made = build(recorded)
    pipeline = made.one("ImagePipeline").inputs

    assert sorted(item.short for item in made.resources if not item.type.startswith("pulumi:")) == [
        "Component",
        "Component",
        "Component",
        "DistributionConfiguration",
        "FrameworkImage",
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
    assert "schedule" not in pipeline
    assert pipeline["imageTestsConfiguration"]["imageTestsEnabled"] is True


def test_the_builder_is_reached_by_no_key_and_only_by_signed_metadata(recorded: Callable[..., Recorder]) -> None:
    infrastructure = build(recorded).one("InfrastructureConfiguration").inputs

    assert "keyPair" not in infrastructure
    assert infrastructure["instanceMetadataOptions"]["httpTokens"] == "required"
    assert infrastructure["terminateInstanceOnFailure"] is True


def test_the_root_of_the_image_is_encrypted(recorded: Callable[..., Recorder]) -> None:
    (mapping,) = build(recorded).one("ImageRecipe").inputs["blockDeviceMappings"]

    assert mapping["ebs"]["encrypted"] == "true"


def test_the_repository_scans_and_never_moves_a_tag(recorded: Callable[..., Recorder]) -> None:
    made = build(recorded)
    repository = made.one("Repository").inputs

    assert repository["imageTagMutability"] == "IMMUTABLE"
    assert repository["imageScanningConfiguration"] == {"scanOnPush": True}
    assert len(json.loads(made.one("LifecyclePolicy").inputs["policy"])["rules"]) == 2


def test_an_image_without_container_has_no_repository(recorded: Callable[..., Recorder]) -> None:
    assert build(recorded, replace(IMAGE, container=None)).of("Repository") == []


def changed(before: Recorder, after: Recorder) -> set[str]:
    old = {(item.short, item.name): item.inputs for item in before.resources}
    new = {(item.short, item.name): item.inputs for item in after.resources}
    assert old.keys() == new.keys()
    return {f"{short}:{name}" for (short, name), inputs in new.items() if inputs != old[(short, name)]}


def test_a_package_bump_changes_its_component_and_the_recipe(recorded: Callable[..., Recorder]) -> None:
    """The pipeline follows by the recipe's ARN, which here is made of its name."""
    assert changed(build(recorded), build(recorded, packages={"numpy": "2.3.1"})) == {
        "Component:pytorch-python",
        "ImageRecipe:pytorch-recipe",
    }


def test_the_same_wish_changes_nothing(recorded: Callable[..., Recorder]) -> None:
    assert changed(build(recorded), build(recorded)) == set()


def test_without_build_nothing_is_built(recorded: Callable[..., Recorder]) -> None:
    made = recorded(lambda: FrameworkImage.from_plan("pytorch", IMAGE))

    assert [item.short for item in made.resources if not item.type.startswith("pulumi:")] == ["FrameworkImage"]


def test_a_parent_that_can_move_is_refused_before_anything_exists(recorded: Callable[..., Recorder]) -> None:
    with pytest.raises(pulumi.InputPropertyError, match="parent image `ubuntu`"):
        build(recorded, parent_image="ubuntu")


@pytest.mark.parametrize("name", ["MyImage", "my_image", "-image", "a" * 65])
def test_a_name_that_no_repository_can_have_is_refused(recorded: Callable[..., Recorder], name: str) -> None:
    with pytest.raises(pulumi.InputPropertyError, match="its repository takes that name"):
        build(recorded, replace(IMAGE, name=name))
