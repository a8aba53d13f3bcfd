"""GK1025: a resource would carry more tags than AWS takes."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_too_many_tags_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1025")

    assert finding.severity is Severity.ERROR
    assert finding.path == "tags"
    assert finding.problem == "54 tags on one resource (50 of them your own); AWS takes 50"
    assert finding.fix == "remove at least 4 of your own"
