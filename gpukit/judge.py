"""Everything there is to say about an input: mistakes of form, names that lead nowhere, and the rules, in one list."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from gpukit.finding import Finding, sort_findings

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.checks import SuppressedFinding
    from gpukit.planning import PlanResult


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """All findings of an input, sorted, and what the stack file accepts by code and reason."""

    findings: tuple[Finding, ...]
    suppressed: "tuple[SuppressedFinding, ...]" = ()


def judge(
    result: "PlanResult",
    *,
    today: date,
    deploying: bool = False,
    limits: Mapping[str, float] | None = None,
    catalog: "Catalog | None" = None,
) -> Judgement:
    """
    Return what stands against the input.

    The rules also run over what is left of an input with mistakes of form, so that everything is told at once; a value
    that was left out as unreadable is not reported a second time.
    """
    if result.spec is None:
        return Judgement(findings=result.findings)
    from gpukit.catalog import load_catalog
    from gpukit.checks import run_checks
    from gpukit.planning import is_under

    checked = run_checks(
        result.spec,
        result.plan,
        catalog or load_catalog(),
        today=today,
        locate=result.input.locate,
        deploying=deploying,
        limits=limits,
    )
    fresh = (item for item in checked.findings if not is_under(item.path, result.left_out))
    return Judgement(findings=sort_findings([*result.findings, *fresh]), suppressed=checked.suppressed)
