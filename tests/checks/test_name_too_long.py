"""GK1028: a name built from the stack's names is longer than AWS takes."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_name_too_long_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1028")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.pretraining-main-pool"
    assert finding.problem == (
        "`foundation-model-training-vision-long-running-production-pretraining-main-pool-1` has 80 "
        "characters, and AWS takes 63"
    )
    assert finding.fix == "shorten `name`, `environment` or the pool's name by 17 characters"
