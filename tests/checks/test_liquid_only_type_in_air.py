"""GK6001: a liquid-cooled type in a zone without liquid."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_liquid_only_type_in_air_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK6001")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.cooling_zone"
    assert finding.problem == "p6e-gb200.36xlarge is cooled by liquid only, and `hall-a` cools by air"
    assert finding.fix == "name a zone whose method is liquid, hybrid or immersion"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {ultraserver: u-p6e-gb200x72, nodes: 18, capacity: {mode: capacity-block}}
""",
            id="no-zone-named",
        ),
    ],
)
def test_liquid_only_type_in_air_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK6001" in codes_of(text)
