"""The list of known images, and a bump that touches one line."""

import pytest
import yaml

from gpukit.images.listing import bump_image, list_images
from gpukit.images.manifest import FloatingPin, UnknownCombination, load_manifest

STACK = """\
config:
  aws:region: us-east-1
  gpukit:preset: multi-node
  gpukit:cluster:  # merged over the preset
    pools:
      train: {image: pytorch}
    images:
      # the layer of the training nodes
      pytorch:
        framework: pytorch
        release_version: 1.36.2-20260714   # tested on 2026-07-20

      serving:
        framework: none
    budget: {hourly_usd: 600}
"""


def test_every_known_image_is_listed_once_with_its_source() -> None:
    rows = list_images()

    assert len(rows) == len(load_manifest().amis) + len(load_manifest().frameworks)
    assert len({row["id"] for row in rows}) == len(rows)
    assert all(row["source"] and row["as_of"] and row["pin"] for row in rows)


def test_unknown_contents_are_absent_not_empty() -> None:
    assert all(value for row in list_images() for value in row["contents"].values())


def test_a_bump_changes_one_line_and_keeps_its_comment() -> None:
    text = bump_image(STACK, "pytorch", "1.36.2-20260728")
    before, after = STACK.splitlines(), text.splitlines()

    assert [new for old, new in zip(before, after, strict=True) if old != new] == [
        "        release_version: 1.36.2-20260728   # tested on 2026-07-20"
    ]


@pytest.mark.parametrize(
    ("pin", "key"),
    [
        pytest.param("ami-0123456789abcdef0", "ami_id", id="AMI"),
        pytest.param("1.36.2-20260728", "release_version", id="EKS release"),
        pytest.param("nvcr.io/nvidia/pytorch:26.03-py3", "container", id="container"),
        pytest.param("repo/x@sha256:" + "0" * 64, "container", id="digest"),
        pytest.param("2.11.0", "version", id="framework version"),
        pytest.param("2.10", "version", id="a version that YAML would read as a number"),
    ],
)
def test_the_kind_of_pin_is_read_off_its_value(pin, key) -> None:
    loaded = yaml.safe_load(bump_image(STACK, "serving", pin))["config"]["gpukit:cluster"]["images"]["serving"]

    assert loaded == {"framework": "none", key: pin}


def test_a_bump_adds_a_pin_that_was_not_there_inside_its_own_image() -> None:
    text = bump_image(STACK, "pytorch", "ami-0123456789abcdef0")
    images = yaml.safe_load(text)["config"]["gpukit:cluster"]["images"]

    assert images["pytorch"]["ami_id"] == "ami-0123456789abcdef0"
    assert images["serving"] == {"framework": "none"}
    assert len(text.splitlines()) == len(STACK.splitlines()) + 1


def test_two_bumps_to_one_pin_are_one() -> None:
    once = bump_image(STACK, "serving", "2.11.0")

    assert bump_image(once, "serving", "2.11.0") == once


def test_a_file_without_end_of_line_and_one_with_windows_ends_stay_readable() -> None:
    bare = "images:\n  a:\n    framework: none"

    assert yaml.safe_load(bump_image(bare, "a", "2.11.0")) == {
        "images": {"a": {"framework": "none", "version": "2.11.0"}}
    }
    assert bump_image(bare.replace("\n", "\r\n") + "\r\n", "a", "2.11.0").endswith("    version: 2.11.0\r\n")


def test_an_image_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(UnknownCombination) as caught:
        bump_image(STACK, "pytroch", "2.11.0")

    assert caught.value.nearest == ("pytorch",)
    assert caught.value.why == "it has pytorch, serving"


@pytest.mark.parametrize("pin", ["latest", "pytorch/pytorch:latest", "newest", "repo/x"])
def test_a_bump_to_a_pin_that_can_move_is_refused(pin) -> None:
    with pytest.raises(FloatingPin):
        bump_image(STACK, "pytorch", pin)
