"""GK2031: a Capacity Block of a length that AWS does not sell."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each block whose days are no legal length."""
    rule = context.catalog.capacity_block_rule
    short_max, long_min, long_max = (
        int(rule(name).value) for name in ("short-duration-max", "long-duration-min", "long-duration-max")
    )
    step = int(rule("long-duration-step").value)
    for path, _, _, source, reservation in context.reservations():
        starts, ends = reservation.starts, reservation.ends
        if source.mode != "capacity-block" or starts is None or ends is None or ends <= starts:
            continue
        days = (ends - starts).days
        if days <= short_max or (long_min <= days <= long_max and days % step == 0):
            continue
        longer = min(max(long_min, -(-days // step) * step), long_max)
        yield tell(
            "GK2031",
            Severity.ERROR,
            f"{path}.ends",
            problem=f"{days} days from {starts.isoformat()} to {ends.isoformat()} are no length of a Capacity Block",
            fix=f"use 1 to {short_max} days, or {long_min} to {long_max} in steps of {step}; the nearest longer "
            f"one is {longer} days",
        )


RULE = Rule(
    code="GK2031",
    title="a Capacity Block of a length that AWS does not sell",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="blocks last 1 to 14 days by the day, or 21 to 182 days by the week",
    source='limits.csv, cb-duration (botocore 1.44.8) ; EC2 User Guide, "Capacity Blocks for ML"',
)
