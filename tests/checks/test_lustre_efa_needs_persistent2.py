"""GK4003: Lustre with EFA on a deployment type that has none."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_lustre_efa_needs_persistent2_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK4003")

    assert finding.severity is Severity.ERROR
    assert finding.path == "storage.scratch.efa"
    assert finding.problem == "SCRATCH_2 has no EFA"
    assert finding.fix == "use `deployment_type: PERSISTENT_2`, or remove `efa: true`"
