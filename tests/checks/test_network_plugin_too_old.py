"""GK3013: a network plug-in too old for efa-only interfaces."""

from collections.abc import Callable

from gpukit.finding import Finding, Severity


def test_network_plugin_too_old_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK3013")

    assert finding.severity is Severity.ERROR
    assert finding.path == "kubernetes.addons.vpc-cni"
    assert finding.problem == "vpc-cni v1.16.0-eksbuild.1 does not know efa-only interfaces"
    assert finding.fix == "use 1.18.5 or later, or leave it out: gpukit pins one"
