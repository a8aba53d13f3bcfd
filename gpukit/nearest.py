"""The nearest valid words to a mistyped one."""

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, count: int = 3) -> tuple[str, ...]:
    """Return up to `count` names that look like `name`, the best first; none where nothing is near."""
    import difflib

    lowered = {candidate.lower(): candidate for candidate in names}
    found = difflib.get_close_matches(name.lower()[:100], list(lowered), n=count, cutoff=0.6)
    return tuple(lowered[match] for match in found)
