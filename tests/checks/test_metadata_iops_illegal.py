"""GK4005: metadata operations per second that FSx does not take."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_metadata_iops_illegal_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4005")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.scratch.metadata_iops"
    assert finding.problem == "5,000 is no value that FSx takes"
    assert finding.fix == "use 1500, 3000, 6000, 12000 or a multiple of 12000 up to 192000; the next is 6,000"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge}
storage:
  scratch: {kind: lustre, gib: 9600, throughput_tier: 250, metadata_iops: 1500}
""",
            id="below-what-the-capacity-brings",
        ),
    ],
)
def test_metadata_iops_illegal_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK4005" in codes_of(text)
