"""
One comment for all stacks of a repository: sections between markers, a head line over them, and merging by stack.

A section is replaced by its marker, so that jobs of different stacks can write one after the other. Text inside a
section cannot fake a marker: `<` is escaped by every renderer, and stack names are encoded in markers.
"""

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import unquote

from gpukit.report.escaping import code, marker_word
from gpukit.report.markdown import MAX_COMMENT_CHARS
from gpukit.report.verdict import Verdict

COMMENT_MARKER: Final = "<!-- gpukit:report -->"
_BEGIN: Final = "<!-- gpukit:stack:{word}:begin -->"
_END: Final = "<!-- gpukit:stack:{word}:end -->"
_SECTION: Final = re.compile(
    r"<!-- gpukit:stack:(?P<word>[A-Za-z0-9._/%-]+):begin -->\n(?P<body>.*?)\n<!-- gpukit:stack:(?P=word):end -->",
    re.DOTALL,
)
_FOLDED: Final = re.compile(r"\n<details>.*?</details>\n?", re.DOTALL)
_TABLE: Final = re.compile(r"\n### In .*?(?=\n### |\n<details>|\Z)", re.DOTALL)


def marker_for(repository_part: str = "") -> str:
    """Return the marker that finds the comment; several tools' comments can live side by side with other parts."""
    return COMMENT_MARKER if not repository_part else f"<!-- gpukit:report:{marker_word(repository_part)} -->"


def build_comment(sections: Mapping[str, str], *, limit: int = MAX_COMMENT_CHARS, marker: str = COMMENT_MARKER) -> str:
    """
    Return the whole comment from sections by stack name, at most `limit` characters.

    Where the sections together are too long, folded parts go first, then tables of the largest section; head lines,
    refusals and Danger stay in every section.
    """
    bodies = {_word(stack): text.strip("\n") for stack, text in sections.items()}
    return _build_from_words(bodies, limit=limit, marker=marker)


def merge_section(
    existing: str, stack: str, section: str, *, limit: int = MAX_COMMENT_CHARS, marker: str = COMMENT_MARKER
) -> str:
    """Return an existing comment with the section of one stack put in or replaced; other stacks' stay."""
    bodies = {_word(name): body for name, body in sections_in(existing).items()}
    bodies[_word(stack)] = section.strip("\n")
    return _build_from_words(bodies, limit=limit, marker=marker)


def sections_in(comment: str) -> dict[str, str]:
    """Return the sections of a comment by stack name; code hosts change line ends."""
    found = _SECTION.finditer(comment.replace("\r\n", "\n"))
    return {unquote(match["word"]).removeprefix("\0"): match["body"] for match in found}


def section_names(comment: str) -> frozenset[str]:
    """Return the stacks that a comment has a section of."""
    return frozenset(sections_in(comment))


def has_section(comment: str, stack: str, section: str) -> bool:
    """Tell whether a comment carries exactly this section of the stack."""
    return sections_in(comment).get(stack, "").strip() == section.replace("\r\n", "\n").strip()


def _word(stack: str) -> str:
    return marker_word(stack) or "%00"


def _build_from_words(bodies: dict[str, str], *, limit: int, marker: str) -> str:
    ordered = dict(sorted(bodies.items()))
    while len(text := _join(ordered, marker)) > limit:
        word = max(ordered, key=lambda key: len(_shrinkable(ordered[key])))
        smaller = _shrink(ordered[word])
        if smaller == ordered[word]:
            # Only head lines, refusals and Danger are left; they stay, whatever the limit.
            break
        ordered[word] = smaller
    return text


def _join(bodies: dict[str, str], marker: str) -> str:
    parts = [f"{_BEGIN.format(word=word)}\n{body}\n{_END.format(word=word)}" for word, body in bodies.items()]
    head = f"{_overview(bodies)}\n\n" if len(bodies) > 1 else ""
    return f"{head}" + "\n\n---\n\n".join(parts) + f"\n\n{marker}\n"


def _overview(bodies: dict[str, str]) -> str:
    """The first line over several stacks: the worst verdict, then each stack's."""
    verdicts = {word: _verdict_of(body) for word, body in bodies.items()}
    worst = min(verdicts.values(), key=list(Verdict).index)
    each = ", ".join(
        f"{code(unquote(word))} {verdict.value.lower()}"
        for word, verdict in sorted(verdicts.items(), key=lambda item: (list(Verdict).index(item[1]), item[0]))
    )
    return f"**{worst.value}**, {len(bodies)} stacks: {each}"


def _verdict_of(body: str) -> Verdict:
    match = re.match(r"\*\*([A-Za-z ]+)\*\*", body)
    return next((verdict for verdict in Verdict if match and verdict.value == match.group(1)), Verdict.INCOMPLETE)


def _shrinkable(body: str) -> str:
    return "".join(match.group(0) for pattern in (_FOLDED, _TABLE) for match in pattern.finditer(body))


def _shrink(body: str) -> str:
    for pattern in (_FOLDED, _TABLE):
        found = list(pattern.finditer(body))
        if found:
            last = found[-1]
            note = "\n(a part was left out to fit all stacks into one comment; it holds no danger)\n"
            rest = body[: last.start()] + body[last.end() :]
            return rest if note.strip() in rest else rest.rstrip("\n") + "\n" + note
    return body
