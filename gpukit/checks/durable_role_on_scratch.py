"""GK4013: data that must last on storage that does not."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each durable role on storage that is not."""
    for name, store in context.spec.storage.items():
        if store.role not in ("home", "checkpoints"):
            continue
        scratch = (
            store.kind == "lustre" and (store.deployment_type or "").startswith("SCRATCH") and not store.data_repository
        )
        if scratch or store.kind == "local-nvme":
            what = store.deployment_type if scratch else "local NVMe"
            yield tell(
                "GK4013",
                Severity.WARNING,
                f"storage.{name}",
                problem=f"`{store.role.value}` stands on {what}, which keeps one copy",
                fix="use PERSISTENT_2, EFS or S3" + (", or add `data_repository:`" if scratch else ""),
            )


RULE = Rule(
    code="GK4013",
    title="data that must last on storage that does not",
    severity=Severity.WARNING,
    needs="spec",
    check=check,
    why="scratch file systems keep one copy and lose it with a server; local NVMe is gone with the instance",
    source=(
        'storage_offers.csv, column replication ; FSx for Lustre User Guide, "Deployment and storage class options"'
    ),
)
