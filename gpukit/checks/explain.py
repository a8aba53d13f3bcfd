"""What a code means: its page in `docs/codes/`, read by heading."""

import re
from dataclasses import dataclass
from pathlib import Path

from gpukit.checks.index import known_codes
from gpukit.nearest import nearest

_SHIPPED = Path(__file__).parent.parent / "_shipped" / "codes"
_IN_REPOSITORY = Path(__file__).parent.parent.parent / "docs" / "codes"
HEADINGS = ("What it checks", "Why it matters", "Example", "Use instead", "Sources")
"""Headings of every page, in this order."""


class UnknownCode(LookupError):
    """A code that nothing gives out; `near` are the codes that look like it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code
        self.near = nearest(code, known_codes())


@dataclass(frozen=True, slots=True, kw_only=True)
class CodePage:
    """The page of one code. `example` and `instead` are YAML where the page shows any, else empty."""

    code: str
    title: str
    what: str
    why: str
    example: str
    instead: str
    sources: tuple[str, ...]
    text: str
    """The whole page."""


def explain_code(code: str) -> CodePage:
    """Return the page of a code; UnknownCode where there is none."""
    file = codes_folder() / f"{code}.md"
    if not re.fullmatch(r"GK[0-9]{4}", code) or not file.is_file():
        raise UnknownCode(code)
    return parse_page(file.read_text(encoding="utf-8"))


def codes_folder() -> Path:
    """Return the folder with the pages: inside the installed package, or the repository's own."""
    return _SHIPPED if _SHIPPED.is_dir() else _IN_REPOSITORY


def parse_page(text: str) -> CodePage:
    """Return a page by its headings; ValueError where one is missing."""
    head, *rest = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    found = re.match(r"# (GK[0-9]{4}): (.+)\n", head)
    sections = {name: body.strip() for name, body in zip(rest[::2], rest[1::2], strict=True)}
    if found is None or tuple(sections) != HEADINGS:
        raise ValueError(f"a page needs a title and the headings {', '.join(HEADINGS)}")
    return CodePage(
        code=found.group(1),
        title=found.group(2).strip(),
        what=sections["What it checks"],
        why=sections["Why it matters"],
        example=_yaml_in(sections["Example"]),
        instead=_yaml_in(sections["Use instead"]),
        sources=tuple(line[2:].strip() for line in sections["Sources"].splitlines() if line.startswith("- ")),
        text=text,
    )


def _yaml_in(text: str) -> str:
    found = re.search(r"```yaml\n(.*?)```", text, flags=re.DOTALL)
    return found.group(1) if found else ""
