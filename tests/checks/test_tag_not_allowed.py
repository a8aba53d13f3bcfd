"""GK1024: a tag's key or value is not one that AWS takes."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_tag_not_allowed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1024")

    assert finding.severity is Severity.ERROR
    assert finding.path == "tags.aws:team"
    assert finding.problem == "the tag key `aws:team` begins with `aws:`"
    assert finding.fix == "choose another prefix: AWS keeps that one for itself"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
tags: {owner: "<script>"}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="markup-in-a-value",
        ),
    ],
)
def test_tag_not_allowed_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1024" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
tags: {"kosten-stelle": "Zürich/KI 42"}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="letters-of-any-alphabet",
        ),
    ],
)
def test_tag_not_allowed_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1024" not in codes_of(text)
