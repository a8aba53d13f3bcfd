"""GK4001: a Lustre capacity that FSx does not make."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each new Lustre file system whose capacity is no legal step."""
    for store in context.plan.storage:
        if store.kind != "lustre" or store.existing_id is not None or store.gib is None:
            continue
        offer = next(
            (
                row
                for row in context.catalog.storage_offers("lustre")
                if row.deployment_type == store.deployment_type
                and row.tier_mb_s_per_tib == store.tier_mb_s_per_tib
                and row.efa == store.efa
                and row.storage_class == "SSD"
            ),
            None,
        )
        if offer is None or offer.is_legal_gib(store.gib) is not False:
            continue
        step = offer.increment_gib or 0
        lower = max([size for size in (*offer.valid_gib, store.gib // step * step) if 0 < size < store.gib], default=0)
        upper = offer.round_up_gib(store.gib)
        yield tell(
            "GK4001",
            Severity.ERROR,
            f"storage.{store.name}.gib",
            problem=f"{store.gib:,} GiB are no capacity of {store.deployment_type} at {store.tier_mb_s_per_tib} "
            "MB/s per TiB" + (" with EFA" if store.efa else ""),
            fix="use " + (f"{lower:,} or " if lower else "") + f"{upper:,} GiB (steps of {step:,}), or leave `gib` out",
        )


RULE = Rule(
    code="GK4001",
    title="a Lustre capacity that FSx does not make",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="FSx takes capacities in steps, and with EFA the steps are up to sixteen times larger",
    source=(
        'storage_offers.csv ; FSx for Lustre User Guide, "EFA-enabled file systems" ; public rule '
        "ParallelCluster FsxStorageCapacityValidator ; public report awsome PR#1124"
    ),
)
