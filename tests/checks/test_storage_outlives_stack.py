"""GK4016: stores that stay when the stack's end date comes."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_storage_outlives_stack_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4016")

    assert finding.severity is Severity.WARNING
    assert finding.path == "storage"
    assert finding.problem == "the stack ends on 2027-01-31, and these stores stay: home"
    assert finding.fix == "set `protect: false` before the end if they may go; `gpukit leaks` lists what is left"
