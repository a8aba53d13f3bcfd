"""GK1028: a name built from the stack's names is longer than AWS takes."""

from collections.abc import Callable

import pytest

from gpukit.finding import Finding, Severity
from gpukit.judge import Judgement


def test_name_too_long_is_told_with_both_values_and_a_fix(example_of: Callable[[str], Finding]) -> None:
    finding = example_of("GK1028")

    assert finding.severity is Severity.ERROR
    assert finding.path == "pools.pretraining-main-pool"
    assert finding.problem == (
        "`foundation-model-training-vision-long-running-production-pretraining-main-pool-1` has 80 "
        "characters, and AWS takes 63"
    )
    assert finding.fix == "shorten `name`, `environment` or the pool's name by 17 characters"


@pytest.mark.parametrize(("characters", "found"), [pytest.param(63, False, id="63"), pytest.param(64, True, id="64")])
def test_the_name_of_an_image_that_is_built_is_measured_too(
    characters: int, found: bool, judge_text: Callable[..., Judgement]
) -> None:
    image = "i" * (characters - len("vision-production-research-dev-"))
    findings = judge_text(f"""
region: us-east-1
name: vision-production-research
images:
  {image}: {{framework: pytorch, build: true}}
pools:
  train: {{instance_type: g6e.xlarge, image: {image}}}
""").findings

    told = [finding.problem for finding in findings if finding.code == "GK1028"]
    assert told == ([f"`vision-production-research-dev-{image}` has 64 characters, and 63 are free"] if found else [])
