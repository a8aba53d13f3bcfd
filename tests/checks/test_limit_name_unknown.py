"""GK1036: a limit of your own has a name that nothing has."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def test_limit_name_unknown_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1036")

    assert finding.severity is Severity.ERROR
    assert finding.path == "limits.L-417A18B5"
    assert finding.problem == "no limit is called `L-417A18B5`"
    assert finding.fix == "did you mean `L-417A185B`?"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            """
region: us-east-1
limits: {eni-per-region: 8000, L-DB2E81BA: 100, cr-0123456789abcdef0: 16, ebs-io2-storage: 40}
pools:
  train: {instance_type: g6e.xlarge}
""",
            id="id-code-and-reservation",
        ),
    ],
)
def test_limit_name_unknown_is_not_seen_where_there_is_none(text: str, codes_of: Callable[[str], set[str]]) -> None:
    assert "GK1036" not in codes_of(text)
