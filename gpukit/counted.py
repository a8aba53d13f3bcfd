"""A number with its noun."""


def counted(number: int, what: str) -> str:
    """Return a number with its noun in the right form: `1 resource`, `2,000 resources`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"
