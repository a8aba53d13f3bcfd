"""GK7003: no budget is stated."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_no_budget_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK7003")

    assert finding.severity is Severity.WARNING
    assert finding.path == "budget"
    assert finding.problem == "neither `hourly_usd` nor `monthly_usd` is stated"
    assert finding.fix == "add `budget: {monthly_usd: N}`; `gpukit cost` shows what the plan costs"
