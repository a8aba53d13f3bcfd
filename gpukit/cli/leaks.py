"""`gpukit leaks`: what still exists and costs money after a destroy."""

import sys
from typing import Annotated

import typer

from gpukit.cli.inputs import (
    FileArgument,
    JsonOption,
    PresetOption,
    SetOption,
    StackOption,
    plan_input,
    read_today,
    refuse,
)
from gpukit.cli.output import print_findings

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def leaks(
    file: FileArgument = None,
    preset: PresetOption = None,
    stack: StackOption = None,
    sets: SetOption = None,
    name: Annotated[
        str | None, typer.Option("--name", help="The stack's `name`, where its file is gone.", show_default=False)
    ] = None,
    region: Annotated[str | None, typer.Option("--region", help="The region, with --name.", show_default=False)] = None,
    as_json: JsonOption = False,
) -> None:
    """List what still exists and costs money after a destroy, found by the stack's tags; reads only.

    Exit codes: 0 nothing is left, 1 something is left or could not be looked at, 2 bad usage, 3 no credentials or no
    boto3.
    """
    if name is not None:
        if region is None:
            refuse("--name needs --region", "add --region us-east-1")
        stack_name, environment, where = name, None, region
    else:
        result = plan_input(file, preset, stack, sets, read_today(None))
        if result.plan is None:
            print_findings(result.findings)
            raise typer.Exit(2)
        stack_name, environment, where = result.plan.name, result.plan.environment, result.plan.region
    from gpukit.leaks.render import render_sweep, render_sweep_json
    from gpukit.leaks.sweep import sweep
    from gpukit.preflight.account import Account, NoCredentials

    try:
        found = sweep(Account(where), stack=stack_name, environment=environment)
    except NoCredentials as missing:
        sys.stderr.write(f"cannot ask AWS: {missing}\n  fix: install `gpukit[aws]`, and sign in\n")
        raise typer.Exit(3) from None
    sys.stdout.write(render_sweep_json(found) if as_json else render_sweep(found))
    raise typer.Exit(1 if found.leftovers or found.not_asked else 0)
