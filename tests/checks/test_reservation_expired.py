"""GK2006: a reservation has ended."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_reservation_expired_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2006")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.capacity.reservations[0].ends"
    assert finding.problem == "cr-0123456789abcdef0 of pool `train` ended on 2026-01-31"
    assert finding.fix == "name its successor, or set the pool to `nodes: 0` when its nodes may go"
