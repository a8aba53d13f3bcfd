"""GK2007: a reservation ends before it starts."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_reservation_dates_reversed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2007")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.capacity.reservations[0].ends"
    assert finding.problem == "it ends on 2027-03-03 and starts on 2027-03-10"
    assert finding.fix == "correct the two days"
