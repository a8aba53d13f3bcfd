"""GK4017: a data repository on a deployment type that takes none."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_data_repository_not_possible_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4017")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.scratch.data_repository"
    assert finding.problem == "SCRATCH_1 takes no data repository"
    assert finding.fix == "use SCRATCH_2 or PERSISTENT_2"
