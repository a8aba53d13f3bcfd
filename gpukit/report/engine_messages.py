"""What the engine prints: its own noise is left out, gpukit's findings in it become findings again."""

import re
from collections.abc import Iterable
from typing import Final

from gpukit.finding import Finding, Severity, sort_findings
from gpukit.report.change import Message
from gpukit.report.redaction import redact_text

_COLOUR_MARK: Final = re.compile(r"<\{%[^%]*%\}>")
_NOISE: Final = re.compile(r"using pulumi-[a-z]+-\S+ from \$PATH at |A new version of Pulumi is available")
_PREFIX: Final = re.compile(r"^(?:warning|error|info):\s*")


def clean_message(text: str) -> str:
    """Return a message without colour marks, secrets and the level it repeats; "" for the engine's own noise."""
    text = _PREFIX.sub("", _COLOUR_MARK.sub("", text).strip())
    return "" if _NOISE.search(text) else redact_text(text)


_FINDING: Final = re.compile(
    r"^(?P<code>GK\d{4}) (?P<severity>error|warning|unknown)\s+(?P<path>[^\s:]*): (?P<problem>.*?)"
    r"(?: \((?P<place>[^()]*:\d+:\d+)\))?\n\s+why:\s+(?P<why>.*)\n\s+fix:\s+(?P<fix>.*)$"
)
"""How gpukit's components tell a finding through the engine's log."""


def finding_in(message: str) -> Finding | None:
    """Return the finding that a message of gpukit's components tells; None for any other message."""
    match = _FINDING.match(message.strip())
    if match is None:
        return None
    return Finding(
        code=match["code"],
        severity=Severity(match["severity"]),
        path=match["path"],
        problem=match["problem"],
        why=match["why"],
        fix=match["fix"],
    )


def split_findings(messages: Iterable[Message]) -> tuple[tuple[Finding, ...], tuple[Message, ...]]:
    """Return the findings among messages, once each, and the messages that are none."""
    findings: list[Finding] = []
    others: list[Message] = []
    for message in messages:
        finding = finding_in(message.text)
        if finding is None:
            others.append(message)
        else:
            findings.append(finding)
    return sort_findings(findings), tuple(others)
