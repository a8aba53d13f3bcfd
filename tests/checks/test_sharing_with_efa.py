"""GK2026: shared GPUs in a pool for jobs over several nodes."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_sharing_with_efa_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2026")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.sharing.mig"
    assert finding.problem == "the pool `train` has EFA over 2 nodes and splits its GPUs by MIG"
    assert finding.fix == "set `efa: false`, or make a pool of its own for MIG"
