"""GK4002: a Lustre throughput tier that its deployment type does not have."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_lustre_tier_unknown_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4002")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.scratch.throughput_tier"
    assert finding.problem == "PERSISTENT_2 has no tier of 600 MB/s per TiB"
    assert finding.fix == "use one of 125, 250, 500, 1000, or leave it out"
