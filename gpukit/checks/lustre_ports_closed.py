"""GK4011: Lustre without its ports between nodes and file system."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding where a Lustre store is mounted and the network opens no ports for it."""
    plan = context.plan
    stores = [store.name for store in plan.storage if store.kind == "lustre"]
    if stores and not plan.network.lustre:
        yield tell(
            "GK4011",
            Severity.ERROR,
            "network",
            problem=f"`storage.{stores[0]}` is Lustre, and TCP 988 and 1018-1023 are closed",
            fix="let gpukit make the security groups, or open these ports in both directions",
        )


RULE = Rule(
    code="GK4011",
    title="Lustre without its ports between nodes and file system",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="clients reach the servers on TCP 988 and 1018 to 1023; with these closed the mount hangs",
    source='limits.csv, fsx-sg-ports ; FSx for Lustre User Guide, "File system access control"',
)
