"""GK7006: the stack's end date has passed."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_end_date_passed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK7006")

    assert finding.severity is Severity.WARNING
    assert finding.path == "lifecycle.end_date"
    assert finding.problem == "the stack should have been gone since 2026-11-01"
    assert finding.fix == "run `pulumi destroy`, then `gpukit leaks`; or set a new date"
