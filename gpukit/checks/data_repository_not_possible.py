"""GK4017: a data repository on a deployment type that takes none."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each Lustre store whose data repository cannot be made."""
    for name, store in context.spec.storage.items():
        if store.kind != "lustre" or store.data_repository is None:
            continue
        path = f"storage.{name}.data_repository"
        if store.existing is not None:
            yield tell(
                "GK4017",
                Severity.ERROR,
                path,
                problem=f"{store.existing[:60]} exists, and gpukit changes nothing of it",
                fix="remove it here, and link the bucket where the file system was made",
            )
        elif store.deployment_type == "SCRATCH_1":
            yield tell(
                "GK4017",
                Severity.ERROR,
                path,
                problem="SCRATCH_1 takes no data repository",
                fix="use SCRATCH_2 or PERSISTENT_2",
            )


RULE = Rule(
    code="GK4017",
    title="a data repository on a deployment type that takes none",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="FSx refuses the association with a bucket",
    source="FSx API Reference, CreateDataRepositoryAssociation: not on SCRATCH_1 (botocore 1.44.8)",
)
