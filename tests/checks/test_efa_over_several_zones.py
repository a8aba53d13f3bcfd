"""GK2020: a pool with EFA stands in more than one zone."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_efa_over_several_zones_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2020")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.zones"
    assert finding.problem == "the EFA pool `train` names 2 zones: us-east-1a, us-east-1c"
    assert finding.fix == "use one of us-east-1a, us-east-1c, or set `efa: false`"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity:
      mode: capacity-block
      reservations:
        - {id: cr-0123456789abcdef0, nodes: 2, availability_zone: us-east-1a}
        - {id: cr-0123456789abcdef1, nodes: 2, availability_zone: us-east-1c}
""",
            id="blocks-in-two-zones",
        ),
    ],
)
def test_efa_over_several_zones_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2020" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  serve: {instance_type: g6e.xlarge, nodes: 4, zones: [us-east-1a, us-east-1b]}
""",
            id="several-zones-without-efa",
        ),
    ],
)
def test_efa_over_several_zones_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2020" not in codes_of(text)
