"""GK4006: two stores with the same mount path."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_mount_path_twice_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4006")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.datasets.mount_path"
    assert finding.problem == "`/data` is taken by `storage.scratch`"
    assert finding.fix == "use another path, such as /data/datasets"
