"""GK2043: an update that takes away more nodes than EKS lets go at once."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_update_share_too_large_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2043")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.serve.updates.max_unavailable_pct"
    assert finding.problem == "50 % of 300 nodes are 150, and EKS takes 100"
    assert finding.fix == "use at most 33 %"
