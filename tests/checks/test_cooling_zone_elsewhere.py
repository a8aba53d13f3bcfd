"""GK6003: a pool stands outside the availability zone of its cooling zone."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_cooling_zone_elsewhere_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK6003")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.cooling_zone"
    assert finding.problem == "`hall-a` is in us-east-1c, and the pool stands in us-east-1a"
    assert finding.fix == "set `pools.train.zones: [us-east-1c]`, or name a cooling zone of us-east-1a"
