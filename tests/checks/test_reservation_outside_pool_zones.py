"""GK2002: a reservation lives in a zone that its pool leaves out."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_reservation_outside_pool_zones_is_told_with_both_values_and_a_fix(
    example_of: Callable[[str], Finding],
) -> None:
    finding = example_of("GK2002")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.capacity.reservations[0].availability_zone"
    assert finding.problem == "the reservation lives in us-east-1a, and the pool `train` is bound to us-east-1c"
    assert finding.fix == "set `pools.train.zones: [us-east-1a]`, or leave `zones` out: the reservation decides"
