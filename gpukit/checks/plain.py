"""Make text from people safe to print: no control characters that a terminal or a log would obey."""

import unicodedata


def plain(text: str) -> str:
    """Return the text in one line, with control and direction-changing characters written as escapes."""
    if text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def _shown(char: str) -> str:
    if char.isprintable() or char == " ":
        return char
    if char in "\n\r\t":
        return " "
    if unicodedata.category(char) == "Cs":
        return "?"
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
