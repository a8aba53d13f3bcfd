"""Write the table of rules into docs/sandbox-cloud.md: `python -m gpukit_sandbox.cloud.rules_page PATH`."""

import sys
from pathlib import Path
from typing import Final

from gpukit_sandbox.cloud.ec2_interfaces import INTERFACE_SOURCE
from gpukit_sandbox.cloud.ec2_launch_rules import LAUNCH_SOURCES
from gpukit_sandbox.cloud.registry import RULES
from gpukit_sandbox.cloud.server import load_parts

BEGIN: Final = "<!-- rules: begin -->"
END: Final = "<!-- rules: end -->"


def render_rules() -> str:
    """Return the rules as a Markdown table, one row a rule, sorted: what it holds, on which actions, and where AWS says so."""
    load_parts()
    rows: dict[tuple[str, str], tuple[str, str, list[str]]] = {}
    for (service, operation), rules in RULES.items():
        for each in rules:
            what = (each.check.__doc__ or "").strip().splitlines()[0]
            rows.setdefault((service, each.name), (what, each.source, []))[2].append(operation)
    lines = ["| service | rule | actions | source |", "|---|---|---|---|"]
    for (service, _), (what, source, operations) in sorted(rows.items()):
        lines.append(f"| {service} | {what} | {', '.join(sorted(operations))} | {source} |")
    for name, source in sorted({**LAUNCH_SOURCES, "network interfaces by card": INTERFACE_SOURCE}.items()):
        lines.append(
            f"| ec2 | at launch: {name} | RunInstances, and through it Auto Scaling and node groups | {source} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Replace what stands between the marks of the page."""
    page = Path(sys.argv[1])
    text = page.read_text(encoding="utf-8")
    head, tail = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    page.write_text(f"{head}\n{render_rules()}\n{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
