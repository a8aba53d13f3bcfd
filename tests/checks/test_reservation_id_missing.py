"""GK2008: reserved capacity without the id of a reservation."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_reservation_id_missing_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2008")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train.capacity"
    assert finding.problem == "the pool `train` uses `capacity-block` and names no reservation"
    assert finding.fix == "add `reservations: [{id: cr-..., nodes: N, availability_zone: ...}]` once it is bought"
