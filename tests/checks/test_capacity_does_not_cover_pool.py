"""GK2005: a pool's capacity sources give fewer nodes than it may grow to."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_capacity_does_not_cover_pool_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2005")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.nodes"
    assert finding.problem == "the pool may have 8 nodes, and its capacity sources give 6"
    assert finding.fix == "set `nodes: 6`, or add a source for the other 2"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 8
    capacity:
      - mode: reserved
        reservations: [{id: cr-0123456789abcdef0, nodes: 6, availability_zone: us-east-1a}]
      - {mode: on-demand, nodes: 2}
""",
            id="a-stated-fall-back-to-on-demand",
        ),
    ],
)
def test_capacity_does_not_cover_pool_is_not_seen_where_there_is_none(
    text: str, codes_of: Callable[[str], set[str]]
) -> None:
    assert "GK2005" not in codes_of(text)
