"""GK4001: a Lustre capacity that FSx does not make."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_lustre_size_illegal_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4001")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.scratch.gib"
    assert finding.problem == "12,000 GiB are no capacity of PERSISTENT_2 at 500 MB/s per TiB with EFA"
    assert finding.fix == "use 9,600 or 19,200 GiB (steps of 9,600), or leave `gib` out"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge}
storage:
  scratch: {kind: lustre, gib: 3000, throughput_tier: 250}
""",
            id="without-efa",
        ),
    ],
)
def test_lustre_size_illegal_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK4001" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  train: {instance_type: g6e.xlarge, zones: [us-east-1a]}
storage:
  scratch: {kind: lustre, existing: fs-0123456789abcdef0, availability_zone: us-east-1a}
""",
            id="an-existing-file-system",
        ),
    ],
)
def test_lustre_size_illegal_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK4001" not in codes_of(text)
