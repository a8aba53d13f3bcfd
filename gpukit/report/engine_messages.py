"""What the engine prints for itself and nobody reviewing a change needs."""

import re
from typing import Final

from gpukit.report.redaction import redact_text

_COLOUR_MARK: Final = re.compile(r"<\{%[^%]*%\}>")
_NOISE: Final = re.compile(r"using pulumi-[a-z]+-\S+ from \$PATH at |A new version of Pulumi is available")
_PREFIX: Final = re.compile(r"^(?:warning|error|info):\s*")


def clean_message(text: str) -> str:
    """Return a message without colour marks, secrets and the level it repeats; "" for the engine's own noise."""
    text = _PREFIX.sub("", _COLOUR_MARK.sub("", text).strip())
    return "" if _NOISE.search(text) else redact_text(text)
