"""GK2032: a Capacity Block that cannot be bought yet."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_capacity_block_too_far_ahead_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2032")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.capacity.reservations[0].starts"
    assert finding.problem == "a block that starts on 2027-06-01 is on sale from 2027-04-06 at the earliest"
    assert finding.fix == "look for an offer on 2027-04-06, or choose a start up to 2027-01-26"
