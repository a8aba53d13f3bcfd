"""`images.<name>.build` in a stack file: what the plan says of it, and what a pin changes."""

import json
from dataclasses import replace
from datetime import date

import pytest

from gpukit.images.build import plan_container_build, plan_image_build
from gpukit.images.choose import find_parent_ami
from gpukit.images.manifest import load_manifest
from gpukit.plan import ImageBuildPlan, ImagePlan, Plan, to_jsonable
from gpukit.planning import PlanResult, plan_from_mapping

TODAY = date(2026, 12, 1)
PARENT = "amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260728"


def result_of(image: dict, **changes) -> PlanResult:
    pool = {"instance_type": "p5.48xlarge", "nodes": 2, "image": "pytorch"}
    stack = {"name": "vision", "region": "us-east-1", "images": {"pytorch": {"framework": "pytorch", **image}}}
    return plan_from_mapping({**stack, "pools": {"train": pool}, **changes}, today=TODAY)


def plan_of(image: dict, **changes) -> Plan:
    result = result_of(image, **changes)
    assert result.plan is not None
    assert not [finding for finding in result.findings if finding.severity.value == "error"], result.findings
    return result.plan


def build_of(image: dict, **changes) -> ImageBuildPlan:
    build = plan_of(image, **changes).image("pytorch").build
    assert build is not None
    return build


def test_an_image_that_is_not_built_has_no_build() -> None:
    assert plan_of({}).image("pytorch").build is None


def test_a_build_starts_from_the_release_that_the_nodes_run() -> None:
    image = plan_of({"build": True}).image("pytorch")

    assert image.source == "eks-release"
    assert image.build is not None
    assert image.build.base == replace(image, build=None)
    assert (image.build.parent_name, image.build.parent_owner) == (PARENT, "amazon")


def test_the_plan_holds_all_that_the_documents_are_rendered_from() -> None:
    build = build_of({"build": True, "packages": {"numpy": "2.2.6"}})
    called = replace(build.base, name=build.name)
    pipeline = plan_image_build(called, parent_image=build.parent_name, packages=build.packages)
    container = plan_container_build(called, packages=build.packages)

    assert pipeline.recipe_version == build.recipe_version
    assert {item.name: item.version for item in pipeline.components} == build.component_versions
    assert (container.repository, container.tag) == (build.repository, build.container_tag)


def test_two_environments_in_one_account_do_not_share_a_name() -> None:
    names = {build_of({"build": True}, environment=environment).repository for environment in ("staging", "production")}

    assert names == {"gpukit/vision-staging-pytorch", "gpukit/vision-production-pytorch"}


def test_the_builder_has_a_private_subnet_of_the_stack() -> None:
    plan = plan_of({"build": True})
    subnet = next(item for item in plan.network.subnets if item.name == plan.image("pytorch").build.subnet)

    assert subnet.role != "public"


def test_pinning_the_built_ami_moves_the_nodes_and_leaves_the_build_as_it_was() -> None:
    before = plan_of({"build": True, "packages": {"numpy": "2.2.6"}}).image("pytorch")
    after = plan_of({"build": True, "packages": {"numpy": "2.2.6"}, "ami_id": "ami-0123456789abcdef0"}).image("pytorch")

    assert (after.source, after.ami_id, after.release_version) == ("ami-id", "ami-0123456789abcdef0", None)
    assert after.build == before.build


def test_a_driver_that_only_the_built_ami_holds_does_not_change_what_it_is_built_on() -> None:
    pinned = {"build": True, "ami_id": "ami-0123456789abcdef0"}

    assert build_of({**pinned, "driver": "999.1"}) == build_of(pinned) == build_of({"build": True})


def test_a_pinned_ami_without_a_known_release_to_build_on_is_an_error_that_says_so() -> None:
    image = {"build": True, "ami_id": "ami-0123456789abcdef0"}
    pools = {"train": {"instance_type": "g7.2xlarge", "nodes": 1, "image": "pytorch"}}
    (finding,) = [item for item in result_of(image, pools=pools).findings if item.code == "GK5001"]

    assert finding.path == "images.pytorch.build"
    assert finding.fix == "name the release to build on as `release_version`, or leave `build` out"
    assert build_of({**image, "release_version": "1.36.3-20260911"}, pools=pools).parent_name.endswith("-v20260911")


def test_another_release_is_another_parent_and_recipe() -> None:
    before = build_of({"build": True})
    after = build_of({"build": True, "release_version": "1.36.2-20260714", "ami_id": "ami-0123456789abcdef0"})

    assert after.parent_name == "amazon-eks-node-al2023-x86_64-nvidia-1.36-v20260714"
    assert after.recipe_version != before.recipe_version


def test_a_package_bump_changes_one_component_the_recipe_and_the_tag() -> None:
    before, after = (build_of({"build": True, "packages": {"numpy": version}}) for version in ("2.2.6", "2.3.1"))

    assert {
        name for name, version in after.component_versions.items() if before.component_versions[name] != version
    } == {"gpukit-vision-dev-pytorch-python"}
    assert (before.recipe_version, before.container_tag) != (after.recipe_version, after.container_tag)
    assert before.base == after.base


def test_a_workstation_builds_on_its_own_dated_ami() -> None:
    stack = {"kind": "workstation", "pools": {"dev": {"instance_type": "g6.xlarge", "nodes": 1, "image": "pytorch"}}}
    image = plan_of({"build": True}, **stack).image("pytorch")

    assert image.build is not None
    assert image.build.parent_name == image.ami_name


def test_an_existing_cluster_builds_nothing() -> None:
    assert plan_of({"build": True}, kind="existing-cluster").image("pytorch").build is None


def test_two_generations_with_one_image_get_a_build_each() -> None:
    pools = {
        name: {"instance_type": kind, "nodes": 1, "image": "pytorch"}
        for name, kind in {"train": "p5.48xlarge", "infer": "g6e.xlarge"}.items()
    }
    builds = [image.build for image in plan_of({"build": True}, pools=pools).images]

    assert len({build.repository for build in builds if build is not None}) == 2


def test_a_package_that_can_move_is_an_error_with_its_place() -> None:
    findings = [
        item for item in result_of({"build": True, "packages": {"numpy": ">=2"}}).findings if item.code == "GK5002"
    ]

    assert [finding.path for finding in findings] == ["images.pytorch.packages.numpy"]


def test_built_and_packed_images_are_not_among_the_unbuilt_sections() -> None:
    plan = plan_of({"build": True, "packages": {"numpy": "2.2.6"}})

    assert not [item for item in plan.not_built if item.section.startswith("images.")]


def test_the_plan_stays_readable() -> None:
    assert len(json.dumps(to_jsonable(build_of({"build": True, "packages": {"numpy": "2.2.6"}})))) < 4096


@pytest.mark.parametrize("row", [row for row in load_manifest().amis if row.role == "eks"], ids=lambda row: row.id)
def test_a_release_and_the_name_of_its_ami_agree_with_the_manifest(row, presets) -> None:
    image: ImagePlan = replace(
        presets["multi-node"].image("pytorch"), ami_type=row.ami_type, release_version=row.release_version
    )

    assert find_parent_ami(image) == (row.ami_name, row.ami_owner)
