"""What a rule is, what it is given, and what a run of all rules returns."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING

from gpukit.finding import Finding, Position, Severity
from gpukit.plan import NodeGroupPlan, Plan, PoolPlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.catalog.hardware import InstanceType
    from gpukit.spec.model import CapacitySpec, ClusterSpec, PoolSpec, ReservationSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckContext:
    """Everything that a rule may look at; there is no clock and no network behind it."""

    spec: "ClusterSpec"
    catalog: "Catalog"
    today: date
    made_plan: Plan | None = None
    deploying: bool = False
    """True when resources are about to be made: what may be missing in a draft is then an error."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """The account's own limits: limit id, quota code or reservation id -> value."""
    locate: Callable[[str], Position | None] | None = None

    @property
    def plan(self) -> Plan:
        """Return the plan; only rules that need one may ask."""
        if self.made_plan is None:
            raise LookupError("there is no plan to look at")
        return self.made_plan

    def is_written_by_user(self, path: str) -> bool:
        """Tell whether a key stands in the user's own file, not in the preset under it; True where nobody knows."""
        if self.locate is None:
            return True
        place = self.locate(path)
        return place is None or not place.file.startswith("presets/")

    def pool_plan(self, name: str) -> PoolPlan | None:
        """Return a pool as planned; None where it could not be planned."""
        return next((pool for pool in self.plan.all_pools if pool.name == name), None)

    def gpu_types(self, pool: "PoolSpec") -> "list[InstanceType]":
        """Return the known GPU types that a pool states, in order of wish; unknown ones have their own finding."""
        names = ([pool.instance_type] if pool.instance_type else []) + list(pool.instance_types)
        servers = {server.name: server.instance_type for server in self.catalog.ultraservers()}
        if pool.ultraserver in servers:
            names.append(servers[pool.ultraserver])
        known = dict.fromkeys(name for name in names if self.catalog.has_instance_type(name))
        return [self.catalog.instance_type(name) for name in known]

    def node_groups(self) -> Iterator[tuple[PoolPlan, NodeGroupPlan]]:
        """Yield every node group with its pool, GPU pools first."""
        for pool in self.plan.all_pools:
            for group in pool.node_groups:
                yield pool, group

    def sources(self) -> "Iterator[tuple[str, str, PoolSpec, CapacitySpec]]":
        """Yield key path, pool name, pool and capacity source of every source in the spec."""
        for name, pool in self.spec.pools.items():
            for index, source in enumerate(pool.capacity):
                path = f"pools.{name}.capacity" + (f"[{index}]" if len(pool.capacity) > 1 else "")
                yield path, name, pool, source

    def reservations(self) -> "Iterator[tuple[str, str, PoolSpec, CapacitySpec, ReservationSpec]]":
        """Yield key path, pool name, pool, source and reservation of every reservation in the spec."""
        for path, name, pool, source in self.sources():
            for index, reservation in enumerate(source.reservations):
                yield f"{path}.reservations[{index}]", name, pool, source, reservation


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """
    One thing that is checked.

    `needs` is "spec" where the rule works without a plan. `why` is the reason in the world that each of its findings
    gives, `source` where it can be read. What it checks, an example and its correction are in the page of its code.
    """

    code: str
    title: str
    """What is wrong when it fires, in a few words."""
    severity: Severity
    needs: str
    check: Callable[[CheckContext], Iterable[Finding]]
    why: str
    source: str


def tell(
    code: str, severity: Severity, path: str, *, problem: str, fix: str, why: str = "", source: str = ""
) -> Finding:
    """Return a finding of a rule; an empty `why` or `source` is filled in from the rule by the runner."""
    return Finding(code=code, severity=severity, path=path, problem=problem, why=why, fix=fix, source=source)


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressedFinding:
    """A finding that the stack file accepts, with the reason given there."""

    finding: Finding
    reason: str
    until: date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """
    What all rules said.

    `findings` are sorted by path and code, `suppressed` are those that the stack file accepts, `not_run` are the codes
    of rules that had no plan to look at.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[SuppressedFinding, ...] = ()
    not_run: tuple[str, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """Return the findings of level error."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    def count(self, severity: Severity) -> int:
        """Return how many findings have that level."""
        return sum(1 for finding in self.findings if finding.severity is severity)
