"""
One policy for each rule of gpukit that a stack's resources alone can be held against.

The resources are read as the stack file that would have made them, and gpukit's own rule functions judge that. So a
platform team gets the same codes, words and fixes for stacks that were written by hand.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from typing import Any, Final

from pulumi_policy import (
    EnforcementLevel,
    PolicyConfigSchema,
    ReportViolation,
    StackValidationArgs,
    StackValidationPolicy,
)
from resources_as_stack import ReadStack, read_resources

from gpukit.catalog import load_catalog
from gpukit.checks import CheckContext
from gpukit.checks.index import load_rule
from gpukit.finding import Finding, Severity
from gpukit.plan import Plan
from gpukit.planning import PlanResult, plan_from_mapping

CODES: Final = (
    "GK1024", "GK1026", "GK1027", "GK2010", "GK2011", "GK2013", "GK2029", "GK2030", "GK2040", "GK2041",
    "GK3003", "GK3004", "GK3008", "GK3011", "GK3014", "GK4001", "GK4002", "GK4003", "GK4005", "GK4009", "GK4014",
)  # fmt: skip
"""Rules that need nothing but resources. Those about reservations' contents, prices or images ask for more."""

_LEVELS: Final = {
    Severity.ERROR: EnforcementLevel.MANDATORY,
    Severity.WARNING: EnforcementLevel.ADVISORY,
    Severity.UNKNOWN: EnforcementLevel.ADVISORY,
}


def make_policies() -> list[StackValidationPolicy]:
    """Return one stack policy for each code, mandatory where gpukit calls it an error."""
    return [_policy(code) for code in CODES]


def judge_resources(code: str, resources: Iterable[Any], *, today: date) -> list[tuple[Finding, str | None]]:
    """Return what one rule says of a stack's resources, with the URN of the resource that each finding is about."""
    read = read_resources(resources)
    empty = not read.mapping.get("pools")
    if empty:
        # rules over the rest still need something to plan; what they say of it is dropped
        read = replace(read, mapping={**read.mapping, "pools": {"none": {"role": "system"}}})
    result = plan_from_mapping(read.mapping, region=read.region, today=today)
    rule = load_rule(code)
    if result.spec is None or (rule.needs == "plan" and result.plan is None):
        return []
    context = CheckContext(
        spec=result.spec, catalog=load_catalog(), today=today, made_plan=_as_built(result, read), deploying=True
    )
    found = [(finding, read.urn_of(finding.path)) for finding in rule.check(context)]
    return [(finding, urn) for finding, urn in found if urn is not None or not empty]


def _as_built(result: PlanResult, read: ReadStack) -> Plan | None:
    """Return the plan with the network interfaces that the launch templates really have."""
    if result.plan is None:
        return None
    pools = tuple(
        replace(
            pool,
            node_groups=tuple(
                replace(group, network_interfaces=read.interfaces.get(pool.name) or group.network_interfaces)
                for group in pool.node_groups
            ),
        )
        for pool in result.plan.pools
    )
    return replace(result.plan, pools=pools)


def _policy(code: str) -> StackValidationPolicy:
    rule = load_rule(code)

    def validate(args: StackValidationArgs, report: ReportViolation) -> None:
        for finding, urn in judge_resources(code, args.resources, today=_today(args)):
            # an unknown is told in the preview, and never stops it
            if finding.severity is not Severity.UNKNOWN:
                why = finding.why or rule.why
                report(f"{finding.problem}. Why: {why}. Fix: {finding.fix}. See docs/codes/{code}.md", urn)

    check: Callable[[StackValidationArgs, ReportViolation], None] = validate
    return StackValidationPolicy(
        name=f"{code.lower()}-{rule.check.__module__.rpartition('.')[2].replace('_', '-')}",
        description=f"{rule.title[0].upper()}{rule.title[1:]}",
        validate=check,
        enforcement_level=_LEVELS[rule.severity],
        config_schema=PolicyConfigSchema(
            properties={"today": {"type": "string", "description": "Judge as if it were this day (YYYY-MM-DD)."}}
        ),
    )


def _today(args: StackValidationArgs) -> date:
    """Return the day to judge by: the policy's own configuration, else the machine's (a pack is no pure core)."""
    try:
        stated = args.get_config().get("today")
    except AttributeError:
        stated = None
    return date.fromisoformat(stated) if isinstance(stated, str) and stated else date.today()
