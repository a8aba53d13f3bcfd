"""GK2042: whether the account's limit suffices is not known."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_limit_not_known_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2042")

    assert finding.severity is Severity.UNKNOWN
    assert finding.path == "pools.train"
    assert finding.problem == "Running On-Demand P instances: 384 vCPUs are needed (L-417A185B); the default is 0"
    assert finding.fix == (
        "run `gpukit preflight`, or state it: `limits: {L-417A185B: N}`; request it in Service "
        "Quotas: service ec2, quota L-417A185B"
    )
