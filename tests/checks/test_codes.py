"""Codes and pages belong together: each code has a page, each page an example that gives out exactly its code."""

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpukit.checks.explain import HEADINGS, UnknownCode, codes_folder, explain_code
from gpukit.checks.index import CODES_ELSEWHERE, RULE_MODULES, known_codes, load_rule, load_rules, title_of
from gpukit.finding import Severity
from gpukit.judge import Judgement

ROOT = Path(__file__).resolve().parents[2]
BUILT_BY_HAND = ("GK1015", "GK1031", "GK3005", "GK3007", "GK3008", "GK3009", "GK4011", "GK7002")
"""Codes that no stack file of a few lines gives out; each has a test of its own that changes a plan."""
UNCOVERED_BY_ENDING = {"GK1020": {"GK7003"}}
"""A suppression that ended lets the finding appear that it had accepted."""


def test_every_code_has_a_page_and_every_page_a_code() -> None:
    pages = sorted(file.stem for file in codes_folder().glob("GK[1-7]*.md"))

    assert pages == list(known_codes())


def test_every_rule_module_is_in_the_index() -> None:
    folder = ROOT / "gpukit" / "checks"
    modules = {file.stem for file in folder.glob("*.py") if "\nRULE = Rule(" in file.read_text(encoding="utf-8")}

    assert modules == set(RULE_MODULES.values())


@pytest.mark.parametrize("code", sorted(RULE_MODULES))
def test_a_rule_carries_its_own_code_and_gives_out_no_other(code: str) -> None:
    rule = load_rule(code)
    source = (ROOT / "gpukit" / "checks" / f"{RULE_MODULES[code]}.py").read_text(encoding="utf-8")

    assert rule.code == code
    assert set(re.findall(r"\"(GK[0-9]{4})\"", source)) == {code}
    assert rule.needs in ("spec", "plan")
    assert rule.why
    assert rule.source


def test_no_code_is_given_out_by_a_rule_and_elsewhere() -> None:
    assert set(RULE_MODULES) & set(CODES_ELSEWHERE) == set()


@pytest.mark.parametrize("code", known_codes())
def test_a_page_has_the_fixed_headings_and_the_title_of_its_code(code: str) -> None:
    page = explain_code(code)

    assert page.code == code
    assert page.title == title_of(code)
    assert re.findall(r"^## (.+)$", page.text, flags=re.MULTILINE) == list(HEADINGS)
    assert page.sources


@pytest.mark.parametrize("code", [code for code in known_codes() if code not in BUILT_BY_HAND])
def test_the_example_of_a_page_gives_out_exactly_its_code_and_the_correction_does_not(
    code: str, judge_text: Callable[[str], Judgement]
) -> None:
    page = explain_code(code)
    wrong = judge_text(page.example).findings
    right = {finding.code for finding in judge_text(page.instead).findings}
    # what this version does not build, and what is not known, may come along; errors and warnings may not
    loud = {item.code for item in wrong if item.severity is not Severity.UNKNOWN and item.code != "GK1015"}

    assert code in {finding.code for finding in wrong}
    assert code not in right
    assert loud - right - UNCOVERED_BY_ENDING.get(code, set()) <= {code}


@pytest.mark.parametrize("code", [code for code in known_codes() if code not in BUILT_BY_HAND])
def test_the_correction_of_a_page_has_no_error(code: str, judge_text: Callable[[str], Judgement]) -> None:
    findings = judge_text(explain_code(code).instead).findings

    assert [finding.problem for finding in findings if finding.severity is Severity.ERROR] == []


def test_codes_made_by_hand_have_no_yaml_example() -> None:
    assert tuple(code for code in known_codes() if not explain_code(code).example) == BUILT_BY_HAND


def test_an_unknown_code_names_the_nearest_ones() -> None:
    with pytest.raises(UnknownCode) as caught:
        explain_code("GK2039")

    assert all(code.startswith("GK20") for code in caught.value.near)
    assert caught.value.near


@pytest.mark.parametrize("code", ["../../etc/passwd", "GK20301", "gk2030", ""])
def test_a_code_never_leads_out_of_the_folder_of_pages(code: str) -> None:
    with pytest.raises(UnknownCode):
        explain_code(code)


def test_there_are_at_least_45_rules_over_seven_subjects() -> None:
    assert len(load_rules()) >= 45
    assert {code[2] for code in RULE_MODULES} == set("1234567")


def test_the_index_page_lists_every_code(request: pytest.FixtureRequest) -> None:
    spec = importlib.util.spec_from_file_location("make_code_index", ROOT / "scripts" / "make_code_index.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    if request.config.getoption("--update-golden"):
        script.FILE.write_text(script.render_index(), encoding="utf-8")

    assert script.FILE.read_text(encoding="utf-8") == script.render_index(), "run scripts/make_code_index.py"
