"""GK4013: data that must last on storage that does not."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_durable_role_on_scratch_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4013")

    assert finding.severity is Severity.WARNING
    assert finding.path == "storage.saved"
    assert finding.problem == "`checkpoints` stands on SCRATCH_2, which keeps one copy"
    assert finding.fix == "use PERSISTENT_2, EFS or S3, or add `data_repository:`"
