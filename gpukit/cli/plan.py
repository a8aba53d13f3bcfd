"""`gpukit plan`: the whole decided cluster, as tables or as JSON."""

import sys

import typer

from gpukit.cli.inputs import (
    FileArgument,
    JsonOption,
    PresetOption,
    SetOption,
    StackOption,
    TodayOption,
    asked_for,
    plan_input,
    read_today,
)
from gpukit.cli.output import exit_code, print_findings

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def plan(
    file: FileArgument = None,
    preset: PresetOption = None,
    stack: StackOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
    limits: bool = typer.Option(False, "--limits", help="Show every limit, not only the near ones."),
    today: TodayOption = None,
) -> None:
    """Decide a whole cluster and show it: GPUs, nodes, network, storage, power, cost, limits.

    Needs no Pulumi, no credentials and no network. With --json it prints the frozen plan: the same bytes for the same
    input. Exit codes: 0 fine, 1 findings of level error, 2 unreadable input.
    """
    from gpukit.judge import judge

    day = read_today(today)
    result = plan_input(file, preset, stack, sets, day)
    findings = judge(result, today=day).findings
    if result.plan is not None and not result.unreadable:
        if as_json:
            from gpukit.plan import render_plan_json

            sys.stdout.write(render_plan_json(result.plan))
        else:
            from gpukit.cli.plan_tables import print_plan

            print_plan(result.plan, asked=asked_for(file, preset, stack, sets), all_limits=limits)
    print_findings(findings)
    raise typer.Exit(exit_code(findings, unreadable=result.unreadable))
