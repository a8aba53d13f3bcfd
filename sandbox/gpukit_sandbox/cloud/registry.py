"""
Where each part of the cloud registers what it answers, what it refuses, and the source of each refusal.

An `action` answers a call instead of moto. A `rule` runs before the answer, whoever gives it, and refuses by raising AwsError. An action that only
amends moto's answer calls `call.moto()`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpukit_sandbox.cloud.requests import ApiCall

Handler = Callable[["ApiCall"], Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One refusal of AWS: what is checked and where AWS says so."""

    name: str
    check: Handler
    source: str


ACTIONS: dict[tuple[str, str], Handler] = {}
RULES: dict[tuple[str, str], list[Rule]] = {}


def action(service: str, *operations: str) -> Callable[[Handler], Handler]:
    """Register the function that answers these operations, in place of moto."""

    def register(handler: Handler) -> Handler:
        for operation in operations:
            if (service, operation) in ACTIONS:
                raise ValueError(f"{service}:{operation} has two actions")
            ACTIONS[(service, operation)] = handler
        return handler

    return register


def rule(service: str, *operations: str, source: str) -> Callable[[Handler], Handler]:
    """Register a check that runs before these operations are answered."""

    def register(check: Handler) -> Handler:
        for operation in operations:
            RULES.setdefault((service, operation), []).append(Rule(name=check.__name__, check=check, source=source))
        return check

    return register


def rules_table() -> list[tuple[str, str, str, str]]:
    """Return every rule as (service, operation, rule, source), sorted, for the docs and their test."""
    return sorted(
        (service, operation, rule.name, rule.source) for (service, operation), rules in RULES.items() for rule in rules
    )
