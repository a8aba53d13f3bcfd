"""GK7004: a budget that tells nobody."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_nobody_is_told_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK7004")

    assert finding.severity is Severity.WARNING
    assert finding.path == "budget.notify"
    assert finding.problem == "the monthly cap tells nobody"
    assert finding.fix == "add `notify: [team@example.com]`"
