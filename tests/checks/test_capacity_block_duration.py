"""GK2031: a Capacity Block of a length that AWS does not sell."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_capacity_block_duration_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2031")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.capacity.reservations[0].ends"
    assert finding.problem == "17 days from 2026-12-10 to 2026-12-27 are no length of a Capacity Block"
    assert finding.fix == "use 1 to 14 days, or 21 to 182 in steps of 7; the nearest longer one is 21 days"


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
      mode: capacity-block
      reservations:
        - {id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a, starts: 2026-12-10, ends: 2027-06-17}
""",
            id="longer-than-26-weeks",
        ),
    ],
)
def test_capacity_block_duration_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2031" in codes_of(text)


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
      mode: capacity-block
      reservations:
        - {id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a, starts: 2026-12-10, ends: 2026-12-31}
""",
            id="three-weeks",
        ),
    ],
)
def test_capacity_block_duration_is_not_seen_where_there_is_none(
    text: str, codes_of: Callable[[str], set[str]]
) -> None:
    assert "GK2031" not in codes_of(text)
