"""GK2001: a reservation holds another instance type than its pool asks for."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_reservation_type_differs_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2001")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.capacity.reservations[0].instance_type"
    assert finding.problem == "the reservation holds p5.48xlarge, and the pool `train` asks for p5en.48xlarge"
    assert finding.fix == "set `pools.train.instance_type: p5.48xlarge`, or name a reservation of p5en.48xlarge"
