"""GK1029: a Kubernetes version that EKS does not support."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_kubernetes_version_not_offered_is_told_with_both_values_and_a_fix(
    example_of: Callable[[str], Finding],
) -> None:
    finding = example_of("GK1029")

    assert finding.severity is Severity.ERROR
    assert finding.path == "kubernetes.version"
    assert finding.problem == "support of Kubernetes 1.31 on EKS ended on 2026-11-26"
    assert finding.fix == "use one of: 1.34, 1.35, 1.36"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
kubernetes: {version: "1.99"}
images: {own: {ami_id: ami-0123456789abcdef0}}
pools:
  train: {instance_type: g6e.xlarge, image: own}
""",
            id="a-version-that-does-not-exist",
        ),
        pytest.param(
            """
region: us-east-1
kubernetes: {version: "1.33"}
images: {own: {ami_id: ami-0123456789abcdef0}}
pools:
  train: {instance_type: g6e.xlarge, image: own}
""",
            id="extended-support",
        ),
    ],
)
def test_kubernetes_version_not_offered_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1029" in codes_of(text)
