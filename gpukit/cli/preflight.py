"""`gpukit preflight`: ask the real account, read-only, whether the plan can be built."""

import sys
from typing import Annotated

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
from gpukit.cli.output import print_findings

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def preflight(
    file: FileArgument = None,
    preset: PresetOption = None,
    stack: StackOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
    iam_policy: Annotated[
        bool, typer.Option("--iam-policy", help="Print the least IAM policy that this command needs, and stop.")
    ] = False,
    today: TodayOption = None,
) -> None:
    """Ask the real account, read-only, whether the plan can be built.

    Quotas, offered zones, reservations and Capacity Blocks, images, an existing network, and a launch with DryRun:
    each answer is pass, fail or unknown, and a missing permission is unknown. What `--json` prints can be fed to
    `gpukit check --limits`.
    Exit codes: 0 nothing failed, 1 something failed, 2 unreadable input, 3 no credentials or no boto3.
    """
    if iam_policy:
        from gpukit.preflight.policy import render_policy

        sys.stdout.write(render_policy())
        return
    result = plan_input(file, preset, stack, sets, read_today(today))
    if result.plan is None or result.unreadable:
        print_findings(result.findings)
        raise typer.Exit(2)
    from gpukit.preflight.account import Account, NoCredentials
    from gpukit.preflight.run import render_report, render_report_json, run_preflight

    try:
        report = run_preflight(result.plan, Account(result.plan.region))
    except NoCredentials as missing:
        sys.stderr.write(
            f"cannot ask AWS: {missing}\n  fix: install `gpukit[aws]`, and sign in with `aws sso login` or a profile\n"
        )
        raise typer.Exit(3) from None
    sys.stdout.write(render_report_json(report) if as_json else render_report(report))
    raise typer.Exit(1 if report.failed else 0)
