"""GK1030: a version that can change by itself."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_version_not_pinned_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1030")

    assert finding.severity is Severity.ERROR
    assert finding.path == "kubernetes.operators.kuberay"
    assert finding.problem == "`latest` is not one exact version"
    assert finding.fix == "write the version that you tested, such as `1.18.5`"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, pre_pull: [nvcr.io/nvidia/pytorch]}
""",
            id="image-without-tag",
        ),
        pytest.param(
            """
region: us-east-1
kubernetes: {addons: {vpc-cni: ">=1.18"}}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="range",
        ),
    ],
)
def test_version_not_pinned_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1030" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
kubernetes: {addons: {vpc-cni: v1.20.4-eksbuild.1}}
pools:
  train: {instance_type: g6e.xlarge, pre_pull: ["nvcr.io/nvidia/pytorch:25.08-py3"]}
""",
            id="build-of-an-add-on",
        ),
    ],
)
def test_version_not_pinned_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1030" not in codes_of(text)
