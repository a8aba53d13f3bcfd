"""A pinned image is the same image on every run."""

from collections.abc import Callable
from dataclasses import replace

import plans
import pulumi
import pytest
from gpukit_components.image import FrameworkImage
from recorder import Recorder

from gpukit.plan import ImagePlan


def _build(recorded: Callable[..., Recorder], image: ImagePlan) -> tuple[Recorder, FrameworkImage]:
    seen: list[FrameworkImage] = []
    made = recorded(lambda: seen.append(FrameworkImage.from_plan(image.name, image)))
    return made, seen[0]


def test_image_by_id_is_taken_without_asking_aws(recorded: Callable[..., Recorder]) -> None:
    made, image = _build(recorded, plans.AMI_IMAGE)

    assert made.calls == []
    assert image.ami_id is not None


def test_image_by_name_is_looked_up_by_owner_and_exact_name_and_never_by_age(recorded: Callable[..., Recorder]) -> None:
    """pulumi/pulumi-eks#88: the newest image replaces nodes on an unrelated run."""
    made, _ = _build(recorded, plans.NAMED_IMAGE)

    ((token, args),) = made.calls
    assert token == "aws:ec2/getAmi:getAmi"
    assert args["owners"] == ["amazon"]
    assert {"name": "name", "values": ["Deep Learning AMI GPU PyTorch 2.8 20260714"]} in args["filters"]
    assert "mostRecent" not in args


def test_released_image_has_type_and_version_and_no_id(recorded: Callable[..., Recorder]) -> None:
    _, image = _build(recorded, plans.EKS_IMAGE)

    assert image.ami_id is None
    assert image.ami_type is not None
    assert image.release_version is not None


def test_image_that_is_still_to_be_built_is_refused_with_its_path(recorded: Callable[..., Recorder]) -> None:
    with pytest.raises(pulumi.InputPropertyError, match=r"images\.pytorch\.build") as caught:
        _build(recorded, replace(plans.EKS_IMAGE, source="built"))

    assert "pinned images only" in str(caught.value)
