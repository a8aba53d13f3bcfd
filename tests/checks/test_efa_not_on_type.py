"""GK2022: EFA asked for on a type that has none."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_efa_not_on_type_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK2022")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.train.efa"
    assert finding.problem == "g6e.xlarge has no EFA"
    assert finding.fix == "use g6e.8xlarge or g6e.12xlarge or g6e.16xlarge, or set `efa: false`"
