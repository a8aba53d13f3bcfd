"""GK1013: something is defined that nothing uses."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_unused_definition_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1013")

    assert finding.severity is Severity.ERROR
    assert finding.path == "images.evaluation"
    assert finding.problem == "no pool uses `evaluation`"
    assert finding.fix == "name it in a pool (`image: evaluation`), or remove it"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
cooling_zones:
  hall-a: {method: air}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="cooling-zone",
        ),
    ],
)
def test_unused_definition_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1013" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
images:
  training: {framework: pytorch}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="the-only-image-serves-pools-that-name-none",
        ),
    ],
)
def test_unused_definition_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1013" not in codes_of(text)
