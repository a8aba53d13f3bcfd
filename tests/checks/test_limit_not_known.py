"""GK2042: whether the account's limit suffices is not known."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_limit_not_known_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2042")

    assert finding.severity is Severity.UNKNOWN
    assert finding.path == "pools.train"
    assert finding.problem == "Running On-Demand P instances: 384 vCPUs are needed (L-417A185B); the default is 0"
    assert finding.fix == (
        "run `gpukit preflight`, or state it: `limits: {L-417A185B: N}`; request it in Service "
        "Quotas: service ec2, quota L-417A185B"
    )


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
limits: {L-DB2E81BA: 100}
pools:
  train: {instance_type: g6e.xlarge, nodes: 2, root_volume: {gib: 200, type: io2, iops: 5000}}
""",
            id="a-volume-type-whose-quota-is-not-published",
        ),
    ],
)
def test_limit_not_known_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2042" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
limits: {L-DB2E81BA: 100, ebs-io2-storage: 20}
pools:
  train: {instance_type: g6e.xlarge, nodes: 2, root_volume: {gib: 200, type: io2, iops: 5000}}
""",
            id="a-limit-stated-by-its-id",
        ),
    ],
)
def test_limit_not_known_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2042" not in codes_of(text)
