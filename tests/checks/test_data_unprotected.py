"""GK4012: data of a production stack without deletion protection."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_data_unprotected_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4012")

    assert finding.severity is Severity.WARNING
    assert finding.path == "protect"
    assert finding.problem == "`protect: false` in `prod`: home can be deleted by mistake"
    assert finding.fix == "remove `protect: false`"
