"""
Make untrusted text safe to show: names, values and messages come from whoever wrote the program or the cloud.

A name stands in a code span. Simple names use backticks and stay readable in the source; anything else becomes
`<code>` with character references, because only these survive table cells, backticks and backslashes alike. Code hosts
ignore mentions, references and emoji names inside code. Prose gets a zero-width space where such a word would start.
"""

import json
import re
import unicodedata
from typing import Any, Final

from gpukit.report.change import UNKNOWN

MAX_VALUE_CHARS: Final = 120
"""Characters of a value in a table; longer ones are cut in the middle, where paths and ids differ least."""

_SIMPLE: Final = re.compile(r"^[A-Za-z0-9 ._,:/=+\-()\[\]{}\"'→*#%;?]+$")
_REFERENCE: Final = re.compile(r"[^A-Za-z0-9 .,/\-=()+\u00a1-\U0010ffff]")
_WORD_STARTS: Final = re.compile(
    r"(@)(?=\w)|(#)(?=\w)|(!)(?=[\d\[])|(\$)(?=\w)|(~)(?=\w)|(&)(?=\d)|(%)(?=\w)|(:)(?=[a-z0-9_+\-]+:)"
    r"|(:)(?=//)|(?i:(www)(?=\.))|(GH-)(?=\d)"
)
_QUOTED: Final = re.compile(r"`([^`]{1,120})`")
_PROSE_MARKS: Final = re.compile(r"([\\`*_\[\]|~$])")


def code(text: str, limit: int = 200) -> str:
    """Return text as inline code for Markdown, safe in a table cell, an HTML block and prose."""
    text = visible(cut_middle(text, limit))
    if not text.strip():
        return "<code>(empty)</code>"
    if _SIMPLE.match(text) and text == text.strip() and "://" not in text:
        return f"`{text}`"
    return f"<code>{_REFERENCE.sub(lambda match: f'&#{ord(match.group(0))};', text)}</code>"


def prose(text: str, limit: int = 1000) -> str:
    """Return text as Markdown that renders as it stands: no markup, mention, reference, emoji name or link in it."""
    text = visible(cut_middle(text, limit))
    parts = _QUOTED.split(text)
    # Every second part stood between backticks; as inline code it is as safe as any name.
    return "".join(code(part) if index % 2 else _escape_prose(part) for index, part in enumerate(parts))


def terminal(text: str, limit: int = 400) -> str:
    """Return text for a terminal: no escape sequence, no second line, no direction mark."""
    return visible(cut_middle(text, limit))


def visible(text: str) -> str:
    """Return text on one line with control, direction and zero-width characters written out (`\\u202e`)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible_character(character) for character in text)


def cut_middle(text: str, limit: int) -> str:
    """Return text cut in the middle to at most `limit` characters; says how many are missing."""
    if len(text) <= limit:
        return text
    missing = f"...({len(text) - limit:,} more)..."
    keep = max(limit - len(missing), 8)
    return text[: keep - keep // 3] + missing + text[len(text) - keep // 3 :]


def value_text(value: Any, limit: int = MAX_VALUE_CHARS) -> str:
    """Return a property value as short text: strings bare, the rest as JSON, an absent one as `(none)`."""
    if value is None:
        return "(none)"
    if value is UNKNOWN:
        return "(unknown)"
    if isinstance(value, str):
        return cut_middle(value, limit) if value else '""'
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return cut_middle(json.dumps(_plain(value), ensure_ascii=False, sort_keys=True, default=str), limit)


def marker_word(text: str) -> str:
    """Return a name as a word that can stand in an HTML comment: no blank, no `--`, no `>`."""
    kept = re.sub(r"[^A-Za-z0-9._/-]", lambda match: "".join(f"%{byte:02X}" for byte in match.group(0).encode()), text)
    return kept.replace("--", "-%2D").replace("--", "-%2D")


def _escape_prose(text: str) -> str:
    text = _WORD_STARTS.sub(lambda match: match.group(0) + "\u200b", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _PROSE_MARKS.sub(r"\\\1", text).replace("\\|", "&#124;").replace("\\`", "&#96;")


def _visible_character(character: str) -> str:
    if character in "\n\r\t\v\f\u2028\u2029\x85":
        return " "
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Cs", "Co", "Cn"):
        return f"\\u{ord(character):04x}"
    return " " if category == "Zs" else character


def _plain(value: Any) -> Any:
    if value is UNKNOWN:
        return "(unknown)"
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
