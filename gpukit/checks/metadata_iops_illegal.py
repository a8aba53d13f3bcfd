"""GK4005: metadata operations per second that FSx does not take."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_FIRST = (1500, 3000, 6000, 12000)
_STEP, _MOST = 12_000, 192_000


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each stated value that is illegal for its file system."""
    from gpukit.decide.storage import automatic_metadata_iops

    for store in context.plan.storage:
        asked = context.spec.storage.get(store.name)
        if store.kind != "lustre" or asked is None or asked.metadata_iops is None or store.existing_id is not None:
            continue
        path, value = f"storage.{store.name}.metadata_iops", asked.metadata_iops
        if store.deployment_type != "PERSISTENT_2":
            yield tell(
                "GK4005",
                Severity.ERROR,
                path,
                problem=f"{store.deployment_type} takes no metadata configuration",
                fix="remove it, or use `deployment_type: PERSISTENT_2`",
            )
        elif value not in _FIRST and (value % _STEP or value > _MOST):
            higher = min([step for step in (*_FIRST, -(-value // _STEP) * _STEP) if step >= value])
            yield tell(
                "GK4005",
                Severity.ERROR,
                path,
                problem=f"{value:,} is no value that FSx takes",
                fix="use 1500, 3000, 6000, 12000 or a multiple of 12000 up to 192000; the next is "
                f"{min(higher, _MOST):,}",
            )
        else:
            automatic = automatic_metadata_iops(store.gib, context.catalog) if store.gib is not None else None
            if automatic is not None and value < automatic:
                yield tell(
                    "GK4005",
                    Severity.ERROR,
                    path,
                    problem=f"{value:,} is below the {automatic:,} that {store.gib:,} GiB bring by themselves",
                    fix="remove it",
                )


RULE = Rule(
    code="GK4005",
    title="metadata operations per second that FSx does not take",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why=("FSx takes certain values only, never below what the capacity brings by itself, and only on PERSISTENT_2"),
    source="fsx_metadata_iops.csv (botocore 1.44.8)",
)
