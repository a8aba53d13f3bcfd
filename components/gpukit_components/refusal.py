"""Stop before anything is created when the core finds errors, with every finding at once."""

from collections.abc import Iterable

import pulumi

from gpukit.finding import Finding, Severity, has_errors, sort_findings
from gpukit.plan import Plan


class PlanRefused(pulumi.InputPropertiesError, pulumi.RunError):
    """
    The core refuses the input: one entry for each finding.

    It is an `InputPropertiesError`, so that a component host answers with the property paths, and a `RunError`, so that
    a program ends with the text alone and without a traceback.
    """


def require_plan(plan: Plan | None, findings: Iterable[Finding]) -> Plan:
    """Return the plan; log warnings and unknowns; raise PlanRefused with one entry per error."""
    told = sort_findings(findings)
    for finding in told:
        if finding.severity is not Severity.ERROR:
            pulumi.log.warn(render_finding(finding))
    if has_errors(told) or plan is None:
        raise refuse(finding for finding in told if finding.severity is Severity.ERROR)
    return plan


def refuse(findings: Iterable[Finding]) -> PlanRefused:
    """Return the exception that tells all findings at once."""
    errors = sort_findings(findings)
    count = f"{len(errors)} mistake{'' if len(errors) == 1 else 's'}"
    text = "\n".join(render_finding(finding) for finding in errors)
    return PlanRefused(
        f"gpukit found {count}; nothing was created\n{text}",
        [
            {"property_path": finding.path, "reason": f"{finding.code}: {finding.problem}; fix: {finding.fix}"}
            for finding in errors
        ],
    )


def render_finding(finding: Finding) -> str:
    """Return a finding as a few plain lines: what, where, why, fix."""
    place = finding.position
    where = f" ({place.file}:{place.line}:{place.column})" if place else ""
    return (
        f"{finding.code} {finding.severity}  {finding.path}: {finding.problem}{where}\n"
        f"  why:  {finding.why}\n"
        f"  fix:  {finding.fix}"
    )
