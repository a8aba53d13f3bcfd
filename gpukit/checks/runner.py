"""Run every rule, place its findings in the user's file, and set aside what the stack file accepts."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from gpukit.checks.rule import CheckContext, CheckResult, Rule, SuppressedFinding
from gpukit.finding import Finding, Position, Severity, sort_findings

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.plan import Plan
    from gpukit.spec.model import ClusterSpec, SuppressSpec


def run_checks(
    spec: "ClusterSpec",
    plan: "Plan | None",
    catalog: "Catalog",
    *,
    today: date,
    locate: Callable[[str], Position | None] | None = None,
    deploying: bool = False,
    limits: Mapping[str, float] | None = None,
    rules: Iterable[Rule] | None = None,
) -> CheckResult:
    """
    Return what the rules say of a spec and its plan, sorted by path and code, once each.

    Without a plan only rules over the spec run; the others are named in `not_run`. `deploying` makes an error of what a
    draft may still leave open. `limits` are the account's own values beside those in the spec. `rules` are all rules
    unless given.
    """
    if rules is None:
        from gpukit.checks.index import load_rules

        rules = load_rules()
    context = CheckContext(
        spec=spec,
        catalog=catalog,
        today=today,
        made_plan=plan,
        deploying=deploying,
        limits={**spec.limits, **(limits or {})},
        locate=locate,
    )
    found: list[Finding] = []
    not_run: list[str] = []
    for rule in rules:
        if rule.needs == "plan" and plan is None:
            not_run.append(rule.code)
            continue
        found.extend(_completed(rule, finding) for finding in rule.check(context))
    kept, suppressed = set_aside(found, spec.suppress, today=today)
    kept.extend(_judge_suppressions(spec.suppress, suppressed, not_run=not_run, today=today))
    return CheckResult(
        findings=_placed(kept, locate),
        suppressed=tuple(
            replace(item, finding=item.finding.at(locate(item.finding.path) if locate else item.finding.position))
            for item in suppressed
        ),
        not_run=tuple(not_run),
    )


def set_aside(
    findings: Iterable[Finding], suppressions: "Iterable[SuppressSpec]", *, today: date
) -> tuple[list[Finding], list[SuppressedFinding]]:
    """Return the findings that stand, and those that a suppression in force accepts."""
    in_force = [item for item in suppressions if item.until is None or today <= item.until]
    kept: list[Finding] = []
    suppressed: list[SuppressedFinding] = []
    for finding in sort_findings(findings):
        match = next((item for item in in_force if _accepts(item, finding)), None)
        if match is None:
            kept.append(finding)
        else:
            suppressed.append(SuppressedFinding(finding=finding, reason=match.reason, until=match.until))
    return kept, suppressed


def _accepts(suppression: "SuppressSpec", finding: Finding) -> bool:
    if suppression.code != finding.code:
        return False
    path = suppression.path
    return path is None or finding.path == path or finding.path.startswith((f"{path}.", f"{path}["))


def _completed(rule: Rule, finding: Finding) -> Finding:
    return replace(finding, why=finding.why or rule.why, source=finding.source or rule.source)


def _placed(findings: list[Finding], locate: Callable[[str], Position | None] | None) -> tuple[Finding, ...]:
    if locate is None:
        return sort_findings(findings)
    return sort_findings(finding if finding.position else finding.at(locate(finding.path)) for finding in findings)


def _judge_suppressions(
    suppressions: "list[SuppressSpec]", suppressed: list[SuppressedFinding], *, not_run: list[str], today: date
) -> Iterable[Finding]:
    """Yield GK1020 (ended), GK1021 (unknown code) and GK1022 (accepts nothing)."""
    if not suppressions:
        return
    from gpukit.checks.index import known_codes
    from gpukit.nearest import nearest

    codes = known_codes()
    for index, item in enumerate(suppressions):
        path = f"suppress[{index}]"
        if item.code not in codes:
            near = nearest(item.code, codes)
            yield Finding(
                code="GK1021",
                severity=Severity.ERROR,
                path=f"{path}.code",
                problem=f"no check has the code `{item.code}`",
                why="a suppression of a code that does not exist accepts nothing and reads as if it did",
                fix=f"did you mean `{near[0]}`?" if near else "see docs/codes/ for the codes",
            )
        elif item.until is not None and today > item.until:
            yield Finding(
                code="GK1020",
                severity=Severity.WARNING,
                path=f"{path}.until",
                problem=f"the suppression of {item.code} ended on {item.until.isoformat()}",
                why="its findings count again from that day",
                fix="correct what it accepted, or give it a new date and reason",
            )
        elif item.code not in not_run and not any(_accepts(item, other.finding) for other in suppressed):
            yield Finding(
                code="GK1022",
                severity=Severity.WARNING,
                path=path,
                problem=f"the suppression of {item.code}"
                + (f" at `{item.path}`" if item.path else "")
                + " accepts nothing",
                why="a suppression that outlives its finding would hide the next one",
                fix="remove it",
            )
