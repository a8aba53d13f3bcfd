"""GK2025: a MIG profile that the GPU does not have, or that does not fit."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_mig_profile_unknown_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2025")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.notebooks.sharing.mig"
    assert finding.problem == "H200 has no MIG profile `3g.40gb`"
    assert finding.fix == "use of: 1g.18gb, 1g.18gb+me, 1g.35gb, 2g.35gb, 3g.71gb, 4g.71gb, 7g.141gb"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  notebooks: {instance_type: p5en.48xlarge, sharing: {mig: [4g.71gb, 4g.71gb]}, zones: [us-east-1a]}
""",
            id="too-many-slices",
        ),
        pytest.param(
            """
region: us-east-1
pools:
  notebooks: {instance_type: g6e.xlarge, sharing: {mig: [1g.5gb]}}
""",
            id="gpu-without-mig",
        ),
    ],
)
def test_mig_profile_unknown_is_found(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2025" in codes_of(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
pools:
  notebooks: {instance_type: p5en.48xlarge, sharing: {mig: [1g.18gb, 2g.35gb, 3g.71gb]}, zones: [us-east-1a]}
""",
            id="mixed-profiles-on-one-gpu",
        ),
    ],
)
def test_mig_profile_unknown_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK2025" not in codes_of(text)
