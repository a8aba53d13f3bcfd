"""GK4014: backups of a store that cannot be backed up that way."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_backup_not_possible_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4014")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.scratch.backup_days"
    assert finding.problem == "`backup_days: 7`, but SCRATCH_2 takes no backups"
    assert finding.fix == "remove it"
