"""GK4004: a file system stands in another zone than the GPUs."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_storage_in_other_zone_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4004")

    assert finding.severity is Severity.WARNING
    assert finding.path == "storage.scratch.availability_zone"
    assert finding.problem == "it stands in us-east-1c, and the GPUs in us-east-1a"
    assert finding.fix == "use us-east-1a, or remove `availability_zone`"
