"""GK1035: nodes are replaced after a failed check while capacity cannot grow."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_health_replaces_without_limit_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1035")

    assert finding.severity is Severity.WARNING
    assert finding.path == "health.repair"
    assert finding.problem == "`replace` ends nodes of fixed capacity (train) before new ones are there"
    assert finding.fix == "use `repair: taint`, and replace by hand after two signals agree"
