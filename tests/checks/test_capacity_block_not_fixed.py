"""GK2010: a Capacity Block pool that is not of fixed size."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_capacity_block_not_fixed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2010")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.nodes"
    assert finding.problem == "min 2 and max 8 differ in a Capacity Block pool"
    assert finding.fix == (
        "set `nodes: 8`; before the block opens `nodes: 0`, or `starts:` in the reservation, keeps it empty"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: {min: 0, max: 8}
    capacity:
      mode: capacity-block
      reservations:
        - {id: cr-0123456789abcdef0, nodes: 8, availability_zone: us-east-1a, starts: 2027-01-04, ends: 2027-01-11}
""",
            id="at-zero-until-the-block-opens",
        ),
        pytest.param(
            """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 0
    capacity:
      mode: capacity-block
      reservations: [{nodes: 8, availability_zone: us-east-1a}]
""",
            id="declared-at-zero",
        ),
    ],
)
def test_capacity_block_not_fixed_is_not_seen_where_there_is_none(
    text: str, codes_of: Callable[[str], set[str]]
) -> None:
    assert "GK2010" not in codes_of(text)
