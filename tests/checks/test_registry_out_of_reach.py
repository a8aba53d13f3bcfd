"""GK3006: a container image that a closed network cannot reach."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_registry_out_of_reach_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3006")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.pre_pull[0]"
    assert finding.problem == "`nvcr.io/nvidia/pytorch:25.08-py3` is outside the closed network"
    assert finding.fix == "copy it into ECR (a pull-through cache does it by itself), or use `egress: nat`"
