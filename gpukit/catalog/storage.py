"""Rows about storage: what can be bought, in which steps, how fast."""

from dataclasses import dataclass

from gpukit.catalog.fact import Filled


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageOffer:
    """
    One kind and tier of storage. Capacities in GiB, rates in MB/s per TiB, prices in USD.

    Legal capacities are `valid_gib`, then (for Lustre) every multiple of `increment_gib` up to `max_gib`.
    """

    id: Filled
    service: str
    kind: Filled
    """lustre | efs | s3 | ebs | local-nvme"""
    deployment_type: str
    storage_class: str
    tier_mb_s_per_tib: int | None
    efa: bool
    valid_gib: tuple[int, ...]
    """Legal sizes below the first multiple; for EBS the smallest."""
    increment_gib: int | None
    max_gib: int | None
    """Default quota of the account for Lustre, largest volume for EBS."""
    disk_mb_s_per_tib: float | None
    network_mb_s_per_tib: float | None
    burst_mb_s_per_tib: float | None
    performance: str
    max_gbps_per_client: float | None
    max_gbps_per_client_text: str
    replication: str
    usd_per_gb_month: float | None
    usd: float | None
    """Price of another unit than GB-months, named by `price_unit`."""
    price_unit: str
    price_region: str
    price_as_of: str
    rules: str
    source: Filled
    as_of: Filled
    doubts: str = ""

    def is_legal_gib(self, gib: int) -> bool | None:
        """Tell whether a Lustre file system of this size may be made; None where the steps are unknown."""
        if self.increment_gib is None:
            return None
        return gib in self.valid_gib or (gib > 0 and gib % self.increment_gib == 0)

    def round_up_gib(self, gib: float) -> int | None:
        """
        Return the smallest legal capacity of at least `gib`; None where the steps are unknown.

        PERSISTENT_2 of 500 MB/s/TiB with EFA: 10,000 GiB -> 19,200 GiB, two steps of 9,600.
        """
        if self.increment_gib is None:
            return None
        steps = max(1, -int(-gib // self.increment_gib))
        return min([size for size in self.valid_gib if size >= gib] + [steps * self.increment_gib])


@dataclass(frozen=True, slots=True, kw_only=True)
class MetadataIops:
    """Metadata IOPS that a Lustre file system gets or may be given, by its capacity."""

    file_system_type: str
    mode: Filled
    """AUTOMATIC | USER_PROVISIONED | cost"""
    key: str
    key_min: int | None
    key_max: int | None
    metadata_iops: int | None
    rule: str
    source: Filled
    as_of: Filled
    doubts: str = ""
