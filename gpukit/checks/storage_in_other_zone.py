"""GK4004: a file system stands in another zone than the GPUs."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each Lustre file system that is not in a zone of the GPU pools."""
    zones = {zone for pool in context.plan.pools for group in pool.node_groups for zone in group.availability_zones}
    if not zones:
        return
    for store in context.plan.storage:
        if store.kind != "lustre":
            continue
        path = f"storage.{store.name}.availability_zone"
        stated = context.spec.storage[store.name].availability_zone if store.name in context.spec.storage else None
        if store.existing_id is not None and stated is None:
            yield tell(
                "GK4004",
                Severity.UNKNOWN,
                path,
                problem=f"the zone of {store.existing_id} is not stated; the GPUs stand in {', '.join(sorted(zones))}",
                fix="add `availability_zone:`; `gpukit preflight` reads it from the account",
            )
        elif store.availability_zone is not None and store.availability_zone not in zones:
            yield tell(
                "GK4004",
                Severity.ERROR if store.efa else Severity.WARNING,
                path,
                problem=f"it stands in {store.availability_zone}, and the GPUs in {', '.join(sorted(zones))}",
                fix=f"use {sorted(zones)[0]}, or remove `availability_zone`",
            )


RULE = Rule(
    code="GK4004",
    title="a file system stands in another zone than the GPUs",
    severity=Severity.WARNING,
    needs="plan",
    check=check,
    why="every byte then crosses zones at a price and with more delay, and EFA does not cross them at all",
    source=(
        "public rules ParallelCluster ExistingFsxNetworkingValidator and UnmanagedFsxMultiAzValidator ; "
        "limits.csv, fsx-subnet"
    ),
)
