"""GK1038: an add-on that the catalogue does not know."""

from collections.abc import Callable

from gpukit.catalog.kubernetes import load_eks_addons
from gpukit.finding import Finding, Severity
from gpukit.judge import Judgement


def _text(addon: str) -> str:
    return f"""
region: us-east-1
kubernetes: {{addons: {{{addon}: v1.0.0-eksbuild.1}}}}
pools:
  train: {{instance_type: g6e.xlarge}}
"""


def test_addon_unknown_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1038")

    assert finding.severity is Severity.WARNING
    assert finding.path == "kubernetes.addons.aws-ebs-csi-drver"
    assert finding.problem == "the catalogue knows no EKS add-on `aws-ebs-csi-drver`"
    assert finding.fix == "did you mean `aws-ebs-csi-driver`?"


def test_an_addon_like_no_other_may_exist_and_is_unknown(judge_text: Callable[[str], Judgement]) -> None:
    (finding,) = [item for item in judge_text(_text("snapshotter")).findings if item.code == "GK1038"]

    assert finding.severity is Severity.UNKNOWN
    assert "describe-addon-versions" in finding.fix


def test_every_addon_of_the_catalogue_is_known(codes_of: Callable[[str], set[str]]) -> None:
    addons = {row.addon for row in load_eks_addons()}

    assert addons
    assert {name for name in addons if "GK1038" in codes_of(_text(name))} == set()
