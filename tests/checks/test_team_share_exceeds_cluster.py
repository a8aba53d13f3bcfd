"""GK1034: teams own more GPUs than the cluster has."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_team_share_exceeds_cluster_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1034")

    assert finding.severity is Severity.ERROR
    assert finding.path == "queues.teams"
    assert finding.problem == "teams own 6 GPUs, and the pools have 4 at their largest"
    assert finding.fix == "lower the shares to what is there; `borrow_gpus` lets a team use what others leave idle"
