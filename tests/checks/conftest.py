"""Judge stack files as `gpukit check` does, on a fixed day."""

from collections.abc import Callable
from datetime import date

import pytest

from gpukit.catalog import load_catalog
from gpukit.checks import CheckContext, Rule
from gpukit.checks.explain import explain_code
from gpukit.checks.index import load_rule
from gpukit.finding import Finding
from gpukit.judge import Judgement, judge
from gpukit.plan import Plan
from gpukit.planning import PlanResult, plan_from_input
from gpukit.stackfile import read_text

TODAY = date(2026, 12, 1)

Judge = Callable[..., Judgement]


@pytest.fixture(scope="session")
def plan_text() -> Callable[[str], PlanResult]:
    """Plan the text of a stack file."""

    def plan(text: str) -> PlanResult:
        return plan_from_input(read_text(text, file="stack.yaml"), today=TODAY)

    return plan


@pytest.fixture(scope="session")
def judge_text(plan_text: Callable[[str], PlanResult]) -> Judge:
    """Return everything that stands against the text of a stack file."""

    def check(text: str, *, deploying: bool = False, limits: dict[str, float] | None = None) -> Judgement:
        return judge(plan_text(text), today=TODAY, deploying=deploying, limits=limits)

    return check


@pytest.fixture(scope="session")
def codes_of(judge_text: Judge) -> Callable[[str], set[str]]:
    """Return the codes that a text gives out."""

    def codes(text: str) -> set[str]:
        return {finding.code for finding in judge_text(text).findings}

    return codes


@pytest.fixture(scope="session")
def example_of(judge_text: Judge) -> Callable[[str], Finding]:
    """Return the first finding of a code in the example of its own page."""

    def example(code: str) -> Finding:
        found = [item for item in judge_text(explain_code(code).example).findings if item.code == code]
        assert found, f"the example in docs/codes/{code}.md does not give out {code}"
        return found[0]

    return example


@pytest.fixture(scope="session")
def run_rule() -> Callable[..., list[Finding]]:
    """Run one rule over a plan that may have been changed after planning."""

    def run(code: str, result: PlanResult, plan: Plan | None = None) -> list[Finding]:
        assert result.spec is not None
        rule: Rule = load_rule(code)
        context = CheckContext(
            spec=result.spec, catalog=load_catalog(), today=TODAY, made_plan=plan or result.plan, locate=None
        )
        return list(rule.check(context))

    return run
