"""GK2004: pools that share a reservation want more than it holds."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_reservation_shared_too_widely_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2004")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.tune.capacity.reservations[0].nodes"
    assert finding.problem == (
        "cr-0123456789abcdef0 holds 16 instances, and its pools want 20: 12 of `train` + 8 of `tune`"
    )
    assert finding.fix == "lower the pools by 4 nodes together, or name another reservation"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
limits: {cr-0123456789abcdef0: 10}
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 8
    capacity:
      mode: reserved
      reservations: [{id: cr-0123456789abcdef0, nodes: 8, availability_zone: us-east-1a}]
  tune:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity:
      mode: reserved
      reservations: [{id: cr-0123456789abcdef0, nodes: 4, availability_zone: us-east-1a}]
""",
            id="more-than-preflight-found",
        ),
    ],
)
def test_reservation_shared_too_widely_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2004" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
limits: {cr-0123456789abcdef0: 12}
pools:
  train:
    instance_type: p5en.48xlarge
    nodes: 8
    capacity:
      mode: reserved
      reservations: [{id: cr-0123456789abcdef0, nodes: 8, availability_zone: us-east-1a}]
  tune:
    instance_type: p5en.48xlarge
    nodes: 4
    capacity:
      mode: reserved
      reservations: [{id: cr-0123456789abcdef0, nodes: 4, availability_zone: us-east-1a}]
""",
            id="two-pools-whose-sum-fits",
        ),
    ],
)
def test_reservation_shared_too_widely_is_not_seen_where_there_is_none(
    text: str, codes_of: Callable[[str], set[str]]
) -> None:
    assert "GK2004" not in codes_of(text)
