"""GK4003: Lustre with EFA on a deployment type that has none."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each Lustre store that asks for EFA on a type without it."""
    for name, store in context.spec.storage.items():
        deployment = store.deployment_type
        if store.kind == "lustre" and store.efa and deployment not in (None, "PERSISTENT_2"):
            yield tell(
                "GK4003",
                Severity.ERROR,
                f"storage.{name}.efa",
                problem=f"{deployment} has no EFA",
                fix="use `deployment_type: PERSISTENT_2`, or remove `efa: true`",
            )


RULE = Rule(
    code="GK4003",
    title="Lustre with EFA on a deployment type that has none",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "only PERSISTENT_2 speaks EFA; on other types the setting is refused, or dropped and every client "
        "reads over TCP"
    ),
    source='FSx for Lustre User Guide, "EFA-enabled file systems" ; public report awsome PR#1124',
)
