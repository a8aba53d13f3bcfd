"""GK2021: an instance type in a zone that does not offer it."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_type_not_offered_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2021")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.zones"
    assert finding.problem == "us-east-1b does not offer p5en.48xlarge"
    assert finding.fix == (
        "use us-east-1a (use1-az2) or us-east-1c (use1-az6); zone names differ by account, zone ids do not"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-2
pools:
  train: {instance_type: p6-b300.48xlarge, nodes: 2}
""",
            id="region-without-the-type",
        ),
    ],
)
def test_type_not_offered_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2021" in codes_of(text)
