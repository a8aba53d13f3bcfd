"""GK5004: an image of another processor architecture than the nodes."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_architecture_differs_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK5004")

    assert finding.severity is Severity.ERROR
    assert finding.path == "images.training"
    assert finding.problem == "`training` is for arm64, and g6e.xlarge is x86_64"
    assert finding.fix == "use an image for x86_64"
