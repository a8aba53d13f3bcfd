"""GK1039: huge pages or shared memory beyond the memory of a node."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity


def _text(node: str) -> str:
    return f"region: us-east-1\npools:\n  train: {{instance_type: g6e.xlarge, node: {{{node}}}}}\n"


def test_memory_setting_too_large_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1039")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.node.hugepages_2mi"
    assert finding.problem == "32,768 pages of 2 MiB are 64 GiB, and g6e.xlarge has 32 GiB"
    assert finding.fix == "stay well below 16,384 pages: system and pods need memory too"


@pytest.mark.parametrize(
    ("node", "told"),
    [
        pytest.param("hugepages_2mi: 16383", False, id="one-page-is-left"),
        pytest.param("hugepages_2mi: 16384", True, id="all-of-the-memory"),
        pytest.param("shared_memory_gib: 32", False, id="shared-memory-as-large-as-the-memory"),
        pytest.param("shared_memory_gib: 33", True, id="shared-memory-beyond-it"),
    ],
)
def test_memory_settings_are_judged_at_the_edge(node: str, told: bool, codes_of: Callable[[str], set[str]]) -> None:
    assert ("GK1039" in codes_of(_text(node))) is told
