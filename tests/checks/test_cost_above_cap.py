"""GK7001: the stack costs more than its budget allows."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_cost_above_cap_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK7001")

    assert finding.severity is Severity.ERROR
    assert finding.path == "budget.hourly_usd"
    assert finding.problem == "$3.89 an hour, 289 % above the cap of $1.00"
    assert finding.fix == "raise it, or use less of nodes train-1 (g6e.xlarge) ($3.72 an hour)"
