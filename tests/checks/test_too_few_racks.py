"""GK6004: a cooling zone has fewer racks than its pools fill."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_too_few_racks_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK6004")

    assert finding.severity is Severity.ERROR
    assert finding.path == "cooling_zones.liquid.racks"
    assert finding.problem == "2 racks of UltraServers in `liquid`, which has 1"
    assert finding.fix == "set `racks: 2` if the hall has them, or lower the pools"
