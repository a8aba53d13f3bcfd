"""GK2012: a reservation and its pool name different placement groups."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_reservation_in_other_placement_group_is_told_with_both_values_and_a_fix(
    example_of: Callable[[str], Finding],
) -> None:
    finding = example_of("GK2012")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.placement_group"
    assert finding.problem == "the pool names `fast`, and cr-0123456789abcdef0 was made in no placement group"
    assert finding.fix == "leave `placement_group` out: the reservation's own is used"
