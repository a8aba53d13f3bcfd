"""GK4008: a root volume smaller than what goes onto it."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_root_smaller_than_image_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4008")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.root_volume.gib"
    assert finding.problem == "20 GiB, and the image `training` needs 37 GiB"
    assert finding.fix == "use at least 37, or leave it out"
