"""Rows about rules and money: limits, capacity modes, Capacity Blocks, prices."""

from dataclasses import dataclass

from gpukit.catalog.fact import Fact, Filled


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """One quota or hard limit at its default. `value` is None where it is a rule in words, then `value_text` has it."""

    id: Filled
    area: str
    what: str
    value: float | None
    value_text: str
    unit: str
    scope: str
    """What it is counted over: region, vpc, cluster, node-group, instance, ..."""
    adjustable: bool | None
    adjustable_to: float | None
    quota_code: str
    bites_when: str
    rule: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityBlockRule:
    """One number that AWS sets for Capacity Blocks."""

    id: Filled
    rule: str
    value: float
    unit: str
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityMode:
    """
    What a capacity source means for a node group: one row decides placement, scaling, surge, quota and target.

    `nodes` (1 | 2+ | any), `efa` (yes | no | any) and `reservation` (none | id | resource-group) say where it applies.
    """

    mode: Filled
    """on-demand | spot | reserved | capacity-block"""
    reservation: Filled
    nodes: str
    efa: str
    placement_group: str
    """none | own (a cluster group of the pool) | reservation (its own, or none) | never"""
    scaling: str
    """min..max | max=reserved | fixed (min = max, or 0 until the block opens)"""
    update_max_unavailable: int
    update_surge: int
    eks_update_strategy: str
    """DEFAULT starts the new node first, MINIMAL ends the old one first."""
    quota: str
    """Which vCPU quota it consumes: on-demand | spot | none"""
    target: str
    """none | reservation-id | resource-group"""
    market_type: str
    """spot | capacity-block | "" """
    eks_capacity_type: str
    max_instances_per_group: int
    instance_types: str
    """one | several"""
    because: str
    source: Filled
    as_of: Filled
    doubts: str = ""

    def covers(self, *, mode: str, nodes: int, efa: bool, reservation: str) -> bool:
        """Tell whether the row decides for a node group of this size, with or without EFA, and this reservation."""
        return (
            self.mode == mode
            and self.reservation == reservation
            and self.nodes in ("any", "1" if nodes <= 1 else "2+")
            and self.efa in ("any", "yes" if efa else "no")
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CapacityBlockPrice:
    """List price of a Capacity Block, per hour of an instance or of a whole UltraServer."""

    name: Filled
    kind: Filled
    """instance | ultraserver"""
    instances: int
    gpus: int
    regions: tuple[str, ...]
    """Region names, or `*` where the source gives one price without a region."""
    zones: tuple[str, ...]
    usd_per_hour: float
    usd_per_hour_per_gpu: float
    source: Filled
    as_of: Filled
    doubts: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """One list price in USD for its unit; `usd` None where none was found."""

    id: Filled
    service: str
    what: str
    usd: float | None
    unit: str
    region: Filled
    source: Filled
    as_of: Filled
    doubts: str = ""

    def fact(self) -> Fact | None:
        """Return the price as a fact, or None where it is unknown."""
        if self.usd is None:
            return None
        return Fact(value=self.usd, unit=f"USD/{self.unit}", source=self.source, as_of=self.as_of, doubts=self.doubts)
