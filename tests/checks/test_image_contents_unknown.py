"""GK5006: what an image holds is not known."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_image_contents_unknown_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK5006")

    assert finding.severity is Severity.UNKNOWN
    assert finding.path == "images.training.ami_id"
    assert finding.problem == "which driver and EFA ami-0123456789abcdef0 holds is not known"
    assert finding.fix == "state `driver:` and `efa_installer:` of the image, or use a release that gpukit knows"
