"""GK6002: a cooling zone gets more heat than it can carry away."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_envelope_exceeded_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK6002")

    assert finding.severity is Severity.ERROR
    assert finding.path == "cooling_zones.hall-a.envelope_kw"
    assert finding.problem == "2 nodes give 20.4 kW, and `hall-a` carries 15.0 kW"
    assert finding.fix == "lower the pools to 1 nodes, or use a larger zone"
