"""GK4015: local NVMe asked for on a type that has none."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_local_disks_missing_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4015")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.system.local_nvme"
    assert finding.problem == "m7i.xlarge has no local disks"
    assert finding.fix == "remove `local_nvme`"
