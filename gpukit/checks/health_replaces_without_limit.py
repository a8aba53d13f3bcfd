"""GK1035: nodes are replaced after a failed check while capacity cannot grow."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where repair replaces nodes of fixed capacity."""
    health = context.spec.health
    if health is None or health.repair != "replace":
        return
    fixed = sorted({name for _, name, _, source in context.sources() if source.mode in ("reserved", "capacity-block")})
    if fixed:
        yield tell(
            "GK1035",
            Severity.WARNING,
            "health.repair",
            problem=f"`replace` ends nodes of fixed capacity ({', '.join(fixed)}) before new ones are there",
            fix="use `repair: taint`, and replace by hand after two signals agree",
        )


RULE = Rule(
    code="GK1035",
    title="nodes are replaced after a failed check while capacity cannot grow",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why=(
        "false alarms have replaced healthy GPU nodes; where nothing spare exists, a replaced node is a "
        "smaller cluster until it comes back"
    ),
    source="public reports containers-roadmap#2763, #2555, #2567",
)
