"""GK5007: packages of an image that nothing builds."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_packages_without_build_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK5007")

    assert finding.severity is Severity.ERROR
    assert finding.path == "images.training.packages"
    assert finding.problem == "nothing puts webdataset 1.0.2 into the image"
    assert finding.fix == "set `images.training.build: true`, or name a `container` that has them and remove `packages`"


@pytest.mark.parametrize(
    ("image", "found"),
    [
        pytest.param("{framework: pytorch, packages: {numpy: 2.2.6}, build: false}", True, id="build-switched-off"),
        pytest.param(
            "{framework: pytorch, packages: {numpy: 2.2.6}, ami_id: ami-0123456789abcdef0}", True, id="pinned-ami"
        ),
        pytest.param("{framework: pytorch, packages: {numpy: 2.2.6}, build: true}", False, id="built"),
        pytest.param("{framework: pytorch, packages: {}}", False, id="no-package"),
    ],
)
def test_only_packages_that_nothing_builds_are_found(
    image: str, found: bool, codes_of: Callable[[str], set[str]]
) -> None:
    text = f"region: us-east-1\nimages:\n  training: {image}\npools:\n  train: {{instance_type: g6e.xlarge, image: training}}\n"

    assert ("GK5007" in codes_of(text)) is found
