"""Numbers, findings and budget of a stack file, through the plan: what the engine's preview does not carry."""

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gpukit.finding import Finding
from gpukit.plan import to_jsonable
from gpukit.report.change import Numbers
from gpukit.report.gates import Gate, budget_gates
from gpukit.report.numbers import numbers_from_totals

if TYPE_CHECKING:
    from gpukit.plan import Plan
    from gpukit.planning import PlanResult


@dataclass(frozen=True, slots=True, kw_only=True)
class StackNumbers:
    """What a stack file says by itself; all unknown where it makes no plan."""

    numbers: Numbers
    findings: tuple[Finding, ...]
    gates: tuple[Gate, ...]
    plan: "Plan | None" = None
    suppressed: tuple[str, ...] = ()
    """Codes of findings that the stack file accepts."""


def numbers_of_file(file: Path, *, today: datetime.date, preset: str | None = None) -> StackNumbers:
    """Return the numbers of a stack or cluster file in the working tree."""
    from gpukit.planning import plan_from_file

    if not _speaks_of_gpukit(file):
        return StackNumbers(numbers=Numbers(), findings=(), gates=())
    return _from_result(plan_from_file(file, preset=preset, today=today), today)


def numbers_of_preset(preset: str, *, today: datetime.date) -> StackNumbers:
    """Return the numbers of a preset as it is shipped."""
    from gpukit.planning import plan_from_preset

    return _from_result(plan_from_preset(preset, today=today), today)


def numbers_of_text(text: str, *, file: str, folder: Path | None, today: datetime.date) -> StackNumbers:
    """Return the numbers of a stack file's text, as another revision holds it; `folder` is where its files lie."""
    from gpukit.planning import plan_from_input
    from gpukit.stackfile import read_text

    return _from_result(plan_from_input(read_text(text, file=file, folder=folder), today=today), today)


def _speaks_of_gpukit(file: Path) -> bool:
    """Tell whether a stack file holds config of gpukit; another program's stack has no plan, and that is no mistake."""
    if not file.name.startswith("Pulumi."):
        return True
    try:
        return "gpukit:" in file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True


def _from_result(result: "PlanResult", today: datetime.date) -> StackNumbers:
    from gpukit.judge import judge

    findings = judge(result, today=today).findings
    if result.plan is None:
        return StackNumbers(numbers=Numbers(), findings=findings, gates=())
    budget = result.plan.budget
    return StackNumbers(
        numbers=numbers_from_totals(to_jsonable(result.plan.totals)),
        findings=findings,
        gates=budget_gates(hourly_usd=budget.hourly_usd, monthly_usd=budget.monthly_usd),
        plan=result.plan,
        suppressed=tuple(item.code for item in result.spec.suppress) if result.spec is not None else (),
    )
