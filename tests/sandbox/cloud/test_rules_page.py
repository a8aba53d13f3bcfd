"""The page of the cloud tells the rules that are held."""

from pathlib import Path

from gpukit_sandbox.cloud.registry import rules_table
from gpukit_sandbox.cloud.rules_page import BEGIN, END, render_rules

PAGE = Path(__file__).resolve().parents[3] / "docs" / "sandbox-cloud.md"


def test_page_has_every_rule() -> None:
    text = PAGE.read_text(encoding="utf-8")

    assert text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip() == render_rules(), (
        "run: python -m gpukit_sandbox.cloud.rules_page docs/sandbox-cloud.md"
    )


def test_every_rule_names_its_source() -> None:
    render_rules()

    assert [row for row in rules_table() if not row[3].strip()] == []
