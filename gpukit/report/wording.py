"""The phrases that the Markdown and the plain-text renderer share; how a name is quoted is theirs to say."""

from collections.abc import Callable
from typing import Final

from gpukit.report.change import UNKNOWN, Action, PropertyChange, ReplaceOrder
from gpukit.report.danger import Danger, Harm
from gpukit.report.escaping import value_text

Quote = Callable[[str], str]

_PROVIDERS_LEFT_OUT: Final = ("aws", "kubernetes")


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
    before, after = value_text(change.before), value_text(change.after)
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
    if danger.nodes is not None:
        parts.append(f"{danger.nodes:,} {'node drains' if danger.nodes == 1 else 'nodes drain'}")
    if danger.loses:
        parts.append(f"at stake: {prose(danger.loses)}")
    if danger.hint:
        parts.append(prose(danger.hint))
    return "; ".join(parts)


def _causes(danger: Danger, quote: Quote) -> str:
    step = danger.step
    if step.action is Action.REPLACE:
        known = {change.path: change for change in step.changes}
        words = [
            _without_force(change_words(known[path], quote)) if path in known else quote(path)
            for path in step.forced_by
        ]
        return ", ".join(words) + (" forces it" if len(words) == 1 else " force it") if words else ""
    if danger.harm in (Harm.ROLLED, Harm.SHRUNK):
        changes = [change for change in step.changes if not change.computed][:4]
        return ", ".join(_without_force(change_words(change, quote)) for change in changes)
    return ""


def _without_force(words: str) -> str:
    return words.removesuffix(" (forces replacement)")
