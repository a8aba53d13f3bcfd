"""`gpukit cost`: the bill at list price, line by line, each with source and date."""

import typer

from gpukit.cli.inputs import (
    FileArgument,
    JsonOption,
    PresetOption,
    SetOption,
    StackOption,
    TodayOption,
    plan_input,
    read_today,
)
from gpukit.cli.output import console, print_findings, print_json, usd
from gpukit.plan import HOURS_PER_MONTH

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def cost(
    file: FileArgument = None,
    preset: PresetOption = None,
    stack: StackOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
    today: TodayOption = None,
) -> None:
    """Price a plan line by line.

    List prices without discounts and taxes; a price that no source gives is `unknown` and left out of the sum.
    """
    from rich.table import Table

    result = plan_input(file, preset, stack, sets, read_today(today))
    if result.plan is None or result.unreadable:
        print_findings(result.findings)
        raise typer.Exit(2)
    plan = result.plan
    if as_json:
        print_json({"totals": plan.totals, "lines": plan.costs, "budget": plan.budget})
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("what", "quantity", "$/hour", "$/month", "source", "as of"):
        table.add_column(
            name, justify="right" if name in ("quantity", "$/hour", "$/month") else "left", overflow="fold"
        )
    for line in sorted(plan.costs, key=lambda item: -(item.hourly_usd or 0)):
        quantity = "unknown" if line.quantity is None else f"{line.quantity:,} {line.unit}"
        table.add_row(line.subject, quantity, usd(line.hourly_usd), usd(line.monthly_usd), line.source, line.as_of)
    out = console()
    out.print(table)
    out.print(
        f"\n{usd(plan.totals.hourly_usd)} an hour, {usd(plan.totals.monthly_usd)} a month of {HOURS_PER_MONTH} hours"
    )
    if plan.totals.unpriced:
        lines = "line has" if plan.totals.unpriced == 1 else "lines have"
        out.print(f"{plan.totals.unpriced} {lines} no known price or amount, and the sum is without them")
    budget = plan.budget
    if budget.monthly_usd is not None or budget.hourly_usd is not None:
        out.print(f"budget: {usd(budget.hourly_usd)} an hour, {usd(budget.monthly_usd)} a month")
