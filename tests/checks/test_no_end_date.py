"""GK7005: a temporary environment without an end."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_no_end_date_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK7005")

    assert finding.severity is Severity.WARNING
    assert finding.path == "lifecycle.end_date"
    assert finding.problem == "the environment `demo` has no end date"
    assert finding.fix == "add `lifecycle: {end_date: YYYY-MM-DD}`"
