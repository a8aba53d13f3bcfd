"""The phrases that the Markdown and the plain-text renderer share; how a name is quoted is theirs to say."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from gpukit.counted import counted
from gpukit.finding import Finding, Severity
from gpukit.report.change import UNKNOWN, Action, Message, PropertyChange, ReplaceOrder
from gpukit.report.danger import Danger, Harm
from gpukit.report.escaping import MAX_VALUE_CHARS, value_text

Quote = Callable[[str], str]

_MAX_CAUSES: Final = 6
_EXCERPT_LEAD: Final = 20
_EXCERPT_CHARS: Final = 80
_PROVIDERS_LEFT_OUT: Final = ("aws", "kubernetes")


def worst_findings_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings by level (error, warning, unknown), then by path and code."""
    order = list(Severity)
    return sorted(findings, key=lambda finding: (order.index(finding.severity), finding.path, finding.code))


def errors_first(messages: Iterable[Message]) -> list[Message]:
    """Return an engine's messages, its errors before the rest, else in its own order."""
    return sorted(messages, key=lambda message: message.level != "error")


def short_type(token: str) -> str:
    """Return a type token as people say it: `aws:eks/nodeGroup:NodeGroup` -> `eks.NodeGroup`."""
    parts = token.split(":")
    if len(parts) != 3:
        return token
    package, module, name = parts
    module = module.split("/")[0]
    if package in _PROVIDERS_LEFT_OUT:
        return f"{module}.{name}"
    return name if package == "gpukit" else f"{package}.{name}"


def change_words(change: PropertyChange, quote: Quote) -> str:
    """Return one property's change: `maxSize: 64 → 128`."""
    before, after = _both_values(change.before, change.after)
    if before == after and "[secret]" in before:
        words = f"{quote(change.path)}: a secret changed"
    elif change.before is UNKNOWN and change.after is UNKNOWN:
        words = f"{quote(change.path)}: a new value, known after the update"
    elif before == after:
        words = f"{quote(change.path)}: computed again"
    elif change.after is UNKNOWN:
        words = f"{quote(change.path)}: {quote(before)} → known after the update"
    else:
        words = f"{quote(change.path)}: {quote(before)} → {quote(after)}"
    return f"{words} (forces replacement)" if change.forces_replacement else words


def danger_words(danger: Danger, quote: Quote, prose: Quote) -> str:
    """Return one danger in full: what, which property, which order, how many nodes, what is lost, what to do."""
    step = danger.step
    words = f"{danger.subject} {quote(step.name)} **{danger.harm.value}**"
    if step.component:
        words += f" in {quote(step.component)}"
    causes = _causes(danger, quote)
    if causes:
        words += f", because {causes}"
    parts = [words]
    if step.action is Action.REPLACE and step.order is not ReplaceOrder.NOT_SAID:
        parts.append(
            "the new one first, then the old one goes"
            if step.order is ReplaceOrder.CREATE_FIRST
            else "the old one goes first: nothing stands in between"
        )
    if danger.nodes is not None and danger.harm is not Harm.RESTARTED:
        parts.append(f"{counted(danger.nodes, 'node')} {'drains' if danger.nodes == 1 else 'drain'}")
    if danger.loses:
        parts.append(f"at stake: {prose(danger.loses)}")
    if danger.hint:
        parts.append(prose(danger.hint))
    return "; ".join(parts)


def _causes(danger: Danger, quote: Quote) -> str:
    known = {change.path: change for change in danger.step.changes}
    words = [
        _without_force(change_words(known[path], quote)) if path in known else quote(path)
        for path in danger.causes[:_MAX_CAUSES]
    ]
    if len(danger.causes) > _MAX_CAUSES:
        words.append(f"and {len(danger.causes) - _MAX_CAUSES} more properties")
    if danger.step.action is not Action.REPLACE or not words:
        return ", ".join(words)
    return ", ".join(words) + (" forces it" if len(words) == 1 else " force it")


def _without_force(words: str) -> str:
    return words.removesuffix(" (forces replacement)")


def _both_values(before: Any, after: Any) -> tuple[str, str]:
    """Return both values as short text; of two long texts the part where they begin to differ."""
    if not (isinstance(before, str) and isinstance(after, str) and max(len(before), len(after)) > MAX_VALUE_CHARS):
        return value_text(before), value_text(after)
    start = next(
        (i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), min(len(before), len(after))
    )
    start = max(start - _EXCERPT_LEAD, 0)
    return _excerpt(before, start), _excerpt(after, start)


def _excerpt(text: str, start: int) -> str:
    part = text[start : start + _EXCERPT_CHARS]
    return ("..." if start else "") + part + ("..." if start + _EXCERPT_CHARS < len(text) else "")
