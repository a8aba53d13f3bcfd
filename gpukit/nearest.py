"""The nearest valid words to a mistyped one."""

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, count: int = 3, cutoff: float = 0.6) -> tuple[str, ...]:
    """Return up to `count` names at least `cutoff` (0 to 1) like `name`, the best first; none where nothing is near."""
    import difflib

    wanted = name.lower()[:100]
    lowered = {candidate.lower(): candidate for candidate in names}
    found = difflib.get_close_matches(wanted, list(lowered), n=count, cutoff=cutoff)
    if len(wanted) > 1 and not found:
        # a beginning (`p5`) is no near word by its letters, and still the best hint
        found = sorted(candidate for candidate in lowered if candidate.startswith(wanted))[:count]
    return tuple(lowered[match] for match in found)
