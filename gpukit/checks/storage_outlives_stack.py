"""GK4016: stores that stay when the stack's end date comes."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning that lists the protected stores of a stack with an end date."""
    spec = context.spec
    kept = sorted(name for name, store in spec.storage.items() if store.existing is None and store.kind != "local-nvme")
    if spec.lifecycle.end_date is not None and spec.protect and kept:
        yield tell(
            "GK4016",
            Severity.WARNING,
            "storage",
            problem=f"the stack ends on {spec.lifecycle.end_date.isoformat()}, and these stores stay: "
            f"{', '.join(kept)}",
            fix="set `protect: false` before the end if they may go; `gpukit leaks` lists what is left",
        )


RULE = Rule(
    code="GK4016",
    title="stores that stay when the stack's end date comes",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="protected data is kept by `pulumi destroy` on purpose, and bills until somebody deletes it",
    source=(
        "public report: terraform-aws-eks#1267 ; product rule: storage is protected unless somebody says otherwise"
    ),
)
