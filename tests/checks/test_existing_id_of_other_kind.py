"""GK4007: an existing store whose id does not fit its kind."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_existing_id_of_other_kind_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4007")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.scratch.existing"
    assert finding.problem == "`scratch.example.com` is not an id like `fs-0123456789abcdef0`"
    assert finding.fix == "use an id like `fs-0123456789abcdef0`"
