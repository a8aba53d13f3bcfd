"""GK4012: data of a production stack without deletion protection."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where a production stack gives up protection of data that it makes."""
    spec = context.spec
    made = sorted(name for name, store in spec.storage.items() if store.existing is None and store.kind != "local-nvme")
    if not spec.protect and made and spec.environment in ("prod", "production"):
        yield tell(
            "GK4012",
            Severity.WARNING,
            "protect",
            problem=f"`protect: false` in `{spec.environment}`: {', '.join(made)} can be deleted by mistake",
            fix="remove `protect: false`",
        )


RULE = Rule(
    code="GK4012",
    title="data of a production stack without deletion protection",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="one mistaken `pulumi destroy` then takes checkpoints and datasets with it",
    source="product rule: storage is protected unless somebody says otherwise",
)
