"""The pages say what is true: links lead somewhere, commands exist, stack files plan, numbers are those of the plan."""

import os
import re
from datetime import date
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gpukit.cli import COMMANDS, app
from gpukit.finding import has_errors
from gpukit.judge import judge
from gpukit.plan import Totals
from gpukit.planning import plan_from_input, plan_from_preset
from gpukit.spec.presets import preset_names
from gpukit.stackfile import read_text

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
OWN_PAGES = [page for page in PAGES if page.parent.name != "codes"]
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCED_YAML = re.compile(r"^```ya?ml\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND_LINE = re.compile(r"^(?:    )?(?:\$ )?(gpukit|make) +([a-z-]+)", re.MULTILINE)
TODAY = date(2026, 12, 1)


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))
    targets = [target for target in LINK.findall(text) if "://" not in target and not target.startswith("#")]
    broken = [target for target in targets if not (page.parent / target.split("#")[0]).exists()]

    assert broken == []


@pytest.mark.parametrize("page", OWN_PAGES, ids=_name)
def test_commands_of_a_page_exist(page: Path) -> None:
    make = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    known = {"gpukit": set(COMMANDS), "make": make}
    used = COMMAND_LINE.findall(page.read_text(encoding="utf-8"))

    assert [(tool, name) for tool, name in used if name not in known[tool]] == []


PRESENT = [name for name, (module, _) in COMMANDS.items() if find_spec(module) is not None]


def test_there_are_commands() -> None:
    assert {"plan", "explain", "cost", "catalog", "schema"} <= set(PRESENT)


@pytest.mark.parametrize("name", PRESENT)
def test_a_command_has_help_and_a_place_in_the_docs(name: str) -> None:
    headings = re.findall(r"^### `gpukit ([a-z-]+)`", (ROOT / "docs" / "commands.md").read_text("utf-8"), re.MULTILINE)
    answer = CliRunner().invoke(app, [name, "--help"])

    assert answer.exit_code == 0
    assert len(answer.output.splitlines()) > 5
    assert COMMANDS[name][1]
    assert name in headings


def _stack_blocks() -> list[object]:
    blocks = []
    for page in OWN_PAGES:
        if page.parent.name == "adr":
            continue
        for index, text in enumerate(FENCED_YAML.findall(page.read_text(encoding="utf-8"))):
            if re.search(r"^(pools|preset|kind):|gpukit:preset", text, re.MULTILINE):
                blocks.append(pytest.param(text, id=f"{_name(page)}-{index + 1}"))
    return blocks


@pytest.mark.parametrize("text", _stack_blocks())
def test_a_stack_file_in_the_docs_has_no_errors(text: str) -> None:
    result = plan_from_input(read_text(text, file="docs"), today=TODAY)
    findings = judge(result, today=TODAY).findings

    assert [finding for finding in findings if has_errors([finding])] == []
    assert result.plan is not None


def _cells(totals: Totals) -> list[str]:
    usd = "unknown" if totals.hourly_usd is None else f"{totals.hourly_usd:,.{2 if totals.hourly_usd < 100 else 0}f}"
    power = "unknown" if totals.it_kw is None else f"{totals.it_kw:,.1f}"
    counts = (totals.gpus, totals.nodes, totals.node_groups, totals.efa_interfaces)
    return [*(f"{count:,}" for count in counts), usd, power]


def test_the_readme_has_the_numbers_of_every_preset() -> None:
    """One test for all, because `make golden` writes the numbers into the one file."""
    readme = ROOT / "README.md"
    lines = readme.read_text(encoding="utf-8").splitlines()
    rows = {line.split("`")[1]: index for index, line in enumerate(lines) if line.startswith("| `")}
    expected = {}
    for preset in preset_names():
        assert preset in rows, f"README.md has no row for the preset `{preset}`"
        plan = plan_from_preset(preset, today=TODAY).plan
        assert plan is not None
        cells = lines[rows[preset]].strip("|").split("|")
        expected[preset] = "|" + "|".join([cells[0], *(f" {cell} " for cell in _cells(plan.totals)), cells[-1]]) + "|"
        if os.environ.get("GPUKIT_GOLDEN") == "write":
            lines[rows[preset]] = expected[preset]
    if os.environ.get("GPUKIT_GOLDEN") == "write":
        readme.write_text("\n".join(lines) + "\n", encoding="utf-8")

    assert {preset: lines[rows[preset]] for preset in expected} == expected, "`make golden` writes them again"


def test_the_readme_fits_two_screens() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 110
