"""GK2009: the zone of a reservation is not stated."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_reservation_zone_missing_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2009")

    assert finding.severity is Severity.UNKNOWN
    assert finding.path == "pools.train.capacity.reservations[0]"
    assert finding.problem == "the zone of cr-0123456789abcdef0 is not stated, and pool `train` has to stand in it"
    assert finding.fix == "add `availability_zone:`; `gpukit preflight` reads it from the account"
