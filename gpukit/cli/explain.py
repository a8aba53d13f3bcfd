"""`gpukit explain`: why a thing was decided, or what a code means."""

import re

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
    refuse,
)
from gpukit.cli.output import console, print_findings, print_json

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def explain(
    subject: str = typer.Argument(help="A key path (pools.train.placement_group), a part of one, or a code (GK2030)."),
    file: FileArgument = None,
    preset: PresetOption = None,
    stack: StackOption = None,
    sets: SetOption = None,
    as_json: JsonOption = False,
    today: TodayOption = None,
) -> None:
    """Say why a number, zone, type or mode was chosen, with the source of each fact.

    A code such as GK2030 needs no stack: its page says what is checked, why it matters and what to use instead.
    """
    if re.fullmatch(r"(?i)gk[0-9]{4}", subject):
        _explain_code(subject.upper(), as_json)
        return
    result = plan_input(file, preset, stack, sets, read_today(today))
    if result.plan is None:
        print_findings(result.findings)
        raise typer.Exit(2)
    wanted = subject.strip(". ")
    found = [item for item in result.plan.decisions if item.subject == wanted or item.subject.startswith(f"{wanted}.")]
    found = found or [item for item in result.plan.decisions if wanted in item.subject]
    if not found:
        from gpukit.nearest import nearest

        subjects = sorted({item.subject for item in result.plan.decisions})
        near = nearest(wanted, subjects)
        more = f", and {len(subjects) - 12} more" if not near and len(subjects) > 12 else ""
        listed = ", ".join(near or tuple(subjects[:12])) + more
        refuse(f"nothing was decided about `{subject[:80]}`", f"ask for one of: {listed}")
    if as_json:
        print_json(found)
        return
    out = console()
    for item in found:
        out.print(f"[bold]{item.subject}[/bold]: {_plain(item.choice)}")
        out.print(f"  because {_plain(item.because)}")
        if item.source:
            out.print(f"  source  {_plain(item.source)}")


def _explain_code(code: str, as_json: bool) -> None:
    from gpukit.checks.explain import UnknownCode, explain_code

    try:
        page = explain_code(code)
    except UnknownCode as unknown:
        refuse(
            f"no check has the code {code}",
            f"did you mean {', '.join(unknown.near)}?" if unknown.near else "docs/codes/README.md lists all codes",
        )
    if as_json:
        print_json(page)
    else:
        typer.echo(page.text.rstrip())


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
