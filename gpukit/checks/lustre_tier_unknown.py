"""GK4002: a Lustre throughput tier that its deployment type does not have."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each Lustre store whose tier does not exist."""
    for name, store in context.spec.storage.items():
        if store.kind != "lustre" or store.throughput_tier is None or store.existing is not None:
            continue
        deployment = store.deployment_type or "PERSISTENT_2"
        tiers = sorted(
            {
                row.tier_mb_s_per_tib
                for row in context.catalog.storage_offers("lustre")
                if row.deployment_type == deployment and row.storage_class == "SSD" and row.tier_mb_s_per_tib
            }
        )
        if store.throughput_tier not in tiers:
            yield tell(
                "GK4002",
                Severity.ERROR,
                f"storage.{name}.throughput_tier",
                problem=f"{deployment} has no tier of {store.throughput_tier} MB/s per TiB",
                fix=f"use one of {', '.join(str(tier) for tier in tiers)}, or leave it out",
            )


RULE = Rule(
    code="GK4002",
    title="a Lustre throughput tier that its deployment type does not have",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="FSx refuses the file system",
    source="storage_offers.csv ; FSx API Reference, CreateFileSystemLustreConfiguration (botocore 1.44.8)",
)
