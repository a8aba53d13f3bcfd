"""GK4014: backups of a store that cannot be backed up that way."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each store that states backups and cannot have them."""
    for name, store in context.spec.storage.items():
        if not store.backup_days:
            continue
        reason = ""
        if store.existing is not None:
            reason = "it exists already, and gpukit changes nothing of it"
        elif store.kind in ("s3", "local-nvme"):
            reason = f"a store of kind {store.kind.value} has no automatic backups"
        elif store.kind == "lustre" and (store.deployment_type or "").startswith("SCRATCH"):
            reason = f"{store.deployment_type} takes no backups"
        elif store.kind == "lustre" and store.data_repository is not None:
            reason = "a file system that is linked to a bucket takes no backups"
        if reason:
            yield tell(
                "GK4014",
                Severity.ERROR,
                f"storage.{name}.backup_days",
                problem=f"`backup_days: {store.backup_days}`, but {reason}",
                fix="remove it",
            )


RULE = Rule(
    code="GK4014",
    title="backups of a store that cannot be backed up that way",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why=(
        "FSx takes no automatic backups of scratch file systems, and S3 and local NVMe have none; the "
        "setting would promise what does not happen"
    ),
    source="FSx API Reference: AutomaticBackupRetentionDays is for persistent types (botocore 1.44.8)",
)
