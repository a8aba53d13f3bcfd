"""Version numbers as they are compared: by number, part for part."""

import re


def parse_version(text: str) -> tuple[int, ...]:
    """Return the leading numbers of a version: `580.159.03` -> (580, 159, 3); an empty text gives ()."""
    numbers: list[int] = []
    for part in re.split(r"[.\-+]", text.strip().removeprefix("v")):
        match = re.match(r"\d+", part)
        if not match:
            break
        numbers.append(int(match.group()))
        if match.group() != part:
            break
    return tuple(numbers)


def is_at_least(version: str, minimum: str) -> bool | None:
    """Tell whether `version` >= `minimum`; None where the version is not known."""
    if not version:
        return None
    return parse_version(version) >= parse_version(minimum)


def is_below(version: str, bound: str) -> bool | None:
    """Tell whether `version` < `bound`; None where the version is not known."""
    reached = is_at_least(version, bound)
    return None if reached is None else not reached


def starts_with(version: str, prefix: str) -> bool:
    """Tell whether `version` belongs to `prefix`, part for part: 2.11.0 to 2.11, but not to 2.1."""
    wanted = parse_version(prefix)
    return bool(wanted) and parse_version(version)[: len(wanted)] == wanted
