"""What a question to the real account is, and what came back."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Verdict(StrEnum):
    """What an answer means: `unknown` is never a pass."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """
    One question with its answer.

    `path` is the key path in the stack file that the question is about, `fix` what to do where it did not pass,
    `action` the API action that was asked (`ec2:DescribeSubnets`).
    """

    probe: str
    path: str
    question: str
    verdict: Verdict
    answer: str
    fix: str = ""
    action: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreflightReport:
    """All answers of one run, and the limits that were read: quota code or reservation id -> value."""

    account: str | None
    region: str
    results: tuple[ProbeResult, ...]
    limits: Mapping[str, float] = field(default_factory=dict)

    def count(self, verdict: Verdict) -> int:
        """Return how many answers have that verdict."""
        return sum(1 for result in self.results if result.verdict is verdict)

    @property
    def failed(self) -> bool:
        """Tell whether any answer is a fail."""
        return self.count(Verdict.FAIL) > 0
