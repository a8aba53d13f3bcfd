"""
Limits of an organisation: what a project may not go over, whatever is written into it later.

Several sets of limits meet (an organisation's template, a team's template over it, the project's own file). The result
is always the tightest of each, so that a later one can add limits and can never loosen an earlier one.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Final

from gpukit.counted import counted

if TYPE_CHECKING:
    from gpukit.plan import Plan

LIMITS_FILE: Final = ".gpukit/limits.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class OrgLimits:
    """What is allowed; None is "no limit". Dollars are list price an hour of the whole stack."""

    instance_types: frozenset[str] | None = None
    regions: frozenset[str] | None = None
    max_gpus: int | None = None
    max_hourly_usd: float | None = None
    required_tags: frozenset[str] = field(default_factory=frozenset)
    mandatory_checks: frozenset[str] = field(default_factory=frozenset)
    """Codes of checks that no stack may suppress."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is limited."""
        return self == OrgLimits()


def tighten(first: OrgLimits, second: OrgLimits) -> OrgLimits:
    """Return the tightest of both: common types and regions, the smaller numbers, all that either requires."""
    return OrgLimits(
        instance_types=_common(first.instance_types, second.instance_types),
        regions=_common(first.regions, second.regions),
        max_gpus=_smaller(first.max_gpus, second.max_gpus),
        max_hourly_usd=_smaller(first.max_hourly_usd, second.max_hourly_usd),
        required_tags=first.required_tags | second.required_tags,
        mandatory_checks=first.mandatory_checks | second.mandatory_checks,
    )


def tighten_all(limits: Iterable[OrgLimits]) -> OrgLimits:
    """Return the tightest of all; no limit where there are none."""
    result = OrgLimits()
    for one in limits:
        result = tighten(result, one)
    return result


def loosened(earlier: OrgLimits, later: OrgLimits) -> tuple[str, ...]:
    """Return, in sentences, where a later set asks for more than an earlier one gives; it does not get it."""
    says: list[str] = []
    for name in ("instance_types", "regions"):
        have, want = getattr(earlier, name), getattr(later, name)
        if have is not None and want is not None and want - have:
            says.append(f"{name}: {', '.join(sorted(want - have))} is not allowed above and stays so")
    for name in ("max_gpus", "max_hourly_usd"):
        have, want = getattr(earlier, name), getattr(later, name)
        if have is not None and want is not None and want > have:
            says.append(f"{name}: {want:,} is over the {have:,} allowed above, which stays")
    return tuple(says)


def check_plan_limits(plan: "Plan", limits: OrgLimits, *, suppressed: Iterable[str] = ()) -> tuple[str, ...]:
    """Return what a plan breaks, one sentence each with both values; an unknown price breaks a limit on it."""
    says: list[str] = []
    totals = plan.totals
    if limits.max_gpus is not None and totals.gpus > limits.max_gpus:
        says.append(f"{counted(totals.gpus, 'GPU')}, over the {limits.max_gpus:,} allowed")
    if limits.max_hourly_usd is not None:
        if totals.hourly_usd is None:
            says.append(f"the cost an hour is unknown, and {limits.max_hourly_usd:,g} $/hour are allowed")
        elif totals.hourly_usd > limits.max_hourly_usd:
            says.append(f"{totals.hourly_usd:,.2f} $/hour, over the {limits.max_hourly_usd:,g} allowed")
    if limits.regions is not None and plan.region not in limits.regions:
        says.append(f"region {plan.region}; allowed are {_listed(limits.regions)}")
    if limits.instance_types is not None:
        used = {name for pool in plan.pools for group in pool.node_groups for name in group.instance_types}
        used |= {pool.instance_type for pool in plan.pools}
        for name in sorted(used - limits.instance_types):
            says.append(f"instance type {name}; allowed are {_listed(limits.instance_types)}")
    for tag in sorted(limits.required_tags - plan.tags.keys()):
        says.append(f"the tag `{tag}` is missing")
    for code in sorted(limits.mandatory_checks & frozenset(suppressed)):
        says.append(f"the check {code} is suppressed and may not be")
    return tuple(says)


def render_limits(limits: OrgLimits) -> str:
    """Return the limits as the YAML of `.gpukit/limits.yaml`."""
    import yaml

    document: dict[str, Any] = {}
    for item in fields(limits):
        value = getattr(limits, item.name)
        if value is None or value == frozenset():
            continue
        document[item.name] = sorted(value) if isinstance(value, frozenset) else value
    head = "# Limits of the organisation. Loosening them here has no effect: the base revision's count, too.\n"
    return head + yaml.safe_dump(document, sort_keys=True)


def _common(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    if first is None or second is None:
        return first if second is None else second
    return first & second


def _smaller(first: Any, second: Any) -> Any:
    if first is None or second is None:
        return first if second is None else second
    return min(first, second)


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "none"
