"""GK2028: several instance types where only one may be."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_several_types_not_allowed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2028")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.instance_types"
    assert finding.problem == "2 types (p5en.48xlarge, p5e.48xlarge) in a pool with `reserved` capacity"
    assert finding.fix == "keep one, and make a pool of its own for each other type"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  serve: {instance_types: [g6e.xlarge, g6.xlarge, g5.xlarge], nodes: {min: 0, max: 4}, capacity: {mode: spot}}
""",
            id="several-types-of-a-spot-pool",
        ),
    ],
)
def test_several_types_not_allowed_is_not_seen_where_there_is_none(
    text: str, codes_of: Callable[[str], set[str]]
) -> None:
    assert "GK2028" not in codes_of(text)
