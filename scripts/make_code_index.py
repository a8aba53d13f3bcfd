"""Write docs/codes/README.md: every code with what is wrong when it is given out, by subject."""

from pathlib import Path

from gpukit.checks.index import RULE_MODULES, known_codes, load_rule, title_of

SUBJECTS = {
    "1": "The stack file",
    "2": "Capacity and placement",
    "3": "Network",
    "4": "Storage",
    "5": "Images",
    "6": "Cooling and power",
    "7": "Cost and lifetime",
}
FILE = Path(__file__).resolve().parent.parent / "docs" / "codes" / "README.md"


def render_index() -> str:
    """Return the page: a table for each subject, a line for each code."""
    lines = [
        "# Codes",
        "",
        "Made by `scripts/make_code_index.py`. `gpukit explain GK2030` prints a page. The level is the usual one: some",
        "rules say less or more, as their page tells. Accept a finding with its reason under `suppress:`.",
    ]
    for digit, subject in SUBJECTS.items():
        lines += ["", f"## {subject}", "", "| code | level | what is wrong |", "|---|---|---|"]
        for code in known_codes():
            if code[2] == digit:
                level = str(load_rule(code).severity) if code in RULE_MODULES else _level(code)
                lines.append(f"| [{code}]({code}.md) | {level} | {title_of(code)} |")
    return "\n".join(lines) + "\n"


def _level(code: str) -> str:
    return "warning" if code in ("GK1020", "GK1022") else "error"


if __name__ == "__main__":
    FILE.write_text(render_index(), encoding="utf-8")
