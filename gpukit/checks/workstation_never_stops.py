"""GK7007: a workstation without an idle stop."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where a workstation runs until somebody remembers it."""
    spec = context.spec
    if spec.kind == "workstation" and spec.lifecycle.idle_stop_minutes is None:
        yield tell(
            "GK7007",
            Severity.WARNING,
            "lifecycle.idle_stop_minutes",
            problem="the workstation never stops by itself",
            fix="add `lifecycle: {idle_stop_minutes: 60}`",
        )


RULE = Rule(
    code="GK7007",
    title="a workstation without an idle stop",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="the most common bill nobody wanted is one GPU that ran over a weekend",
    source="product rule: 8 of 25 public cluster definitions state an idle time",
)
