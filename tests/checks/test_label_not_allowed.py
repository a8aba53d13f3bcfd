"""GK1026: a node label or taint is not one that Kubernetes takes."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_label_not_allowed_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1026")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.labels.team"
    assert finding.problem == (
        "the label `team=vision & speech` has a value that is not at most 63 letters, digits, `-`, `_` or `.`"
    )
    assert finding.fix == "shorten or respell the value"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, labels: {"kubernetes.io/team": "vision"}}
""",
            id="reserved-prefix",
        ),
        pytest.param(
            """
region: us-east-1
pools:
  train:
    instance_type: g6e.xlarge
    taints: [{key: gpu, value: a}, {key: gpu, value: b}]
""",
            id="taint-twice",
        ),
    ],
)
def test_label_not_allowed_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1026" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, labels: {"example.com/team": "vision"}}
""",
            id="prefix-of-your-own",
        ),
    ],
)
def test_label_not_allowed_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1026" not in codes_of(text)
