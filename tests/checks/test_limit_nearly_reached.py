"""GK2041: the plan uses most of a limit."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_limit_nearly_reached_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2041")

    assert finding.severity is Severity.WARNING
    assert finding.path == "pools.train"
    assert finding.problem == "Running On-Demand P instances: 384 of 400 vCPUs (L-417A185B), 96 %"
    assert finding.fix == "request it in Service Quotas: service ec2, quota L-417A185B"
