"""GK2027: an update that needs more instances than are reserved."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_update_needs_spare_capacity_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2027")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.updates.strategy"
    assert finding.problem == "blue-green needs 2 more instances than the 2 that are reserved"
    assert finding.fix == "use `rolling` or `replace-one-by-one`"
