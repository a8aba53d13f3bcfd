"""GK2003: a reservation is for another platform or tenancy."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_reservation_platform_differs_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2003")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.capacity.reservations[0].platform"
    assert finding.problem == "the reservation is for `Windows`, and nodes run `Linux/UNIX`"
    assert finding.fix == "name a reservation whose platform is Linux/UNIX"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 2
    capacity:
      mode: reserved
      reservations:
        - {id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a, tenancy: dedicated}
""",
            id="dedicated-tenancy",
        ),
    ],
)
def test_reservation_platform_differs_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2003" in codes_of(text)
