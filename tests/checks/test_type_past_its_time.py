"""GK2029: an instance type that is no longer, or not yet, sold."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_type_past_its_time_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2029")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.instance_type"
    assert finding.problem == "p3.2xlarge is of a retired generation"
    assert finding.fix == "`gpukit recommend` names what is sold today"
