"""GK4009: an EBS volume with settings that its type does not take."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_volume_settings_illegal_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4009")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.root_volume.throughput_mb_s"
    assert finding.problem == "1,000 MiB/s with 3,000 operations per second; gp3 takes 0.25 MiB/s for each"
    assert finding.fix == "set `iops: 4000` as well"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, root_volume: {gib: 200, type: io2}}
""",
            id="io2-without-iops",
        ),
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, root_volume: {gib: 200, type: gp2, iops: 3000}}
""",
            id="iops-on-gp2",
        ),
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, root_volume: {gib: 8, iops: 16000}}
""",
            id="too-many-iops-for-the-size",
        ),
    ],
)
def test_volume_settings_illegal_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK4009" in codes_of(text)
