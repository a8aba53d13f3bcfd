"""`gpukit drill`: bring a whole preset up in the sandbox with a real Kubernetes, and run a job over every GPU."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from gpukit.cli.inputs import JsonOption
from gpukit.cli.output import print_json

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def drill(
    preset: Annotated[str, typer.Argument(metavar="PRESET", help="multi-node, thousand-card, thousand-card-liquid.")],
    gpus: Annotated[
        int | None, typer.Option("--gpus", min=1, help="Another number of GPUs, in whole nodes.", show_default=False)
    ] = None,
    report: Annotated[
        Path | None, typer.Option("--report", help="Write an HTML page with pictures here.", show_default=False)
    ] = None,
    utilization: Annotated[
        bool, typer.Option("--utilization", help="Replay a day of jobs too: static shares against one cohort.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="Show the engine's own words on stderr.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Bring a whole preset up from nothing in the sandbox, run a job over every GPU, and leave nothing behind.

    The real engine, the real Kubernetes, a double of AWS. Exit code 1 at the first promise that does not hold.
    """
    from gpukit_sandbox.drill.page import render_page, render_table
    from gpukit_sandbox.drill.run import run_drill
    from gpukit_sandbox.errors import SandboxError

    try:
        record = run_drill(preset, gpus=gpus, say=_say, words=sys.stderr if verbose else None, utilization=utilization)
    except SandboxError as problem:
        sys.stderr.write(f"error: {problem}\n")
        raise typer.Exit(problem.exit_code) from None
    if report is not None:
        report.write_text(render_page(record), encoding="utf-8")
        _say(f"report: {report}")
    if as_json:
        print_json(record.to_json())
    else:
        typer.echo(render_table(record))
    if not record.ok:
        sys.stderr.write(f"broken: {record.broken}\n")
        sys.stderr.write(f"  where: {record.where}\n" if record.where else "")
        sys.stderr.write(f"  why:   {record.why}\n" if record.why else "")
        raise typer.Exit(record.exit_code)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()
