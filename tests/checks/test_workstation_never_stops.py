"""GK7007: a workstation without an idle stop."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_workstation_never_stops_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK7007")

    assert finding.severity is Severity.WARNING
    assert finding.path == "lifecycle.idle_stop_minutes"
    assert finding.problem == "the workstation never stops by itself"
    assert finding.fix == "add `lifecycle: {idle_stop_minutes: 60}`"
