"""GK2013: a capacity mode that the instance type is not sold in."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_mode_not_for_type_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2013")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.capacity"
    assert finding.problem == "g6e.xlarge is not sold in Capacity Blocks"
    assert finding.fix == (
        "use `mode: on-demand` or `reserved`, or a type that is sold in blocks, such as p5en.48xlarge"
    )
