"""GK3014: a retention that CloudWatch Logs does not take."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_retention_not_allowed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3014")

    assert finding.severity is Severity.ERROR
    assert finding.path == "network.flow_log_days"
    assert finding.problem == "45 days are no retention of CloudWatch Logs"
    assert finding.fix == "use 60, the next longer one"
