"""GK1032: a cluster has no pool for system pods."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_no_system_pool_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1032")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools"
    assert finding.problem == "all pools are GPU pools: nothing runs DNS and controllers"
    assert finding.fix == "add a pool such as `system: {role: system, instance_type: m7i.xlarge, nodes: 2}`"
