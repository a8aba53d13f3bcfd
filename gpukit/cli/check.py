"""`gpukit check`: every costly mistake before any cloud call, all at once."""

import json
import os
import sys
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from gpukit.cli.output import exit_code

if TYPE_CHECKING:
    from gpukit.finding import Finding
    from gpukit.judge import Judgement

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


class Format(StrEnum):
    """How findings are printed."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"


LimitsOption = Annotated[
    Path | None,
    typer.Option(
        "--limits", help="Your account's own limits: what `gpukit preflight --json` wrote.", show_default=False
    ),
]


@app.command()
def check(
    file: FileArgument = None,
    preset: PresetOption = None,
    stack: StackOption = None,
    sets: SetOption = None,
    form: Annotated[Format, typer.Option("--format", help="How to print findings.")] = Format.TEXT,
    as_json: JsonOption = False,
    limits: LimitsOption = None,
    deploying: Annotated[
        bool, typer.Option("--deploying", help="Judge as `pulumi up` does: what a draft may leave open is an error.")
    ] = False,
    today: TodayOption = None,
) -> None:
    """Find every costly mistake of a stack before any cloud call, all at once.

    Each finding says what, where, why and how to fix it; `gpukit explain GK2030` says more about a code. Exit codes:
    0 no error, 1 findings of level error, 2 unreadable input.
    """
    from gpukit.judge import judge

    day = read_today(today)
    own = _read_limits(limits) if limits is not None else {}
    # as settings, so that the plan's own limits table is made of them too
    own_sets = [f"limits.{name}={value}" for name, value in own.items()]
    result = plan_input(file, preset, stack, [*own_sets, *(sets or [])], day)
    chosen = Format.JSON if as_json else form
    judgement = _with_near_paths(judge(result, today=day, deploying=deploying, limits=own), _root(chosen))
    file_shown = _near(result.input.file, _root(chosen)) if result.input.file else None
    sys.stdout.write(_render(chosen, judgement, file_shown))
    raise typer.Exit(exit_code(judgement.findings, unreadable=result.unreadable))


def _root(form: Format) -> Path:
    """Return the folder that paths are shown from: a pipeline's checkout for what it reads, else the current one."""
    checkout = os.environ.get("GITHUB_WORKSPACE") or os.environ.get("CI_PROJECT_DIR")
    return Path(checkout) if checkout and form in (Format.SARIF, Format.GITHUB) else Path.cwd()


def _near(file: str, root: Path) -> str:
    """Return a file's path from the root where it lies in it; else as it was given."""
    whole = Path(file).absolute()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else file


def _with_near_paths(judgement: "Judgement", root: Path) -> "Judgement":
    def shown(finding: "Finding") -> "Finding":
        place = finding.position
        if place is None or place.file.startswith("presets/"):
            return finding
        return finding.at(replace(place, file=_near(place.file, root)))

    return replace(
        judgement,
        findings=tuple(shown(finding) for finding in judgement.findings),
        suppressed=tuple(replace(item, finding=shown(item.finding)) for item in judgement.suppressed),
    )


def _render(form: Format, judgement: "Judgement", file: str | None) -> str:
    if form is Format.JSON:
        from gpukit.checks.render_json import render_json

        return render_json(judgement.findings, judgement.suppressed)
    if form is Format.SARIF:
        from gpukit.checks.render_sarif import render_sarif

        return render_sarif(judgement.findings, judgement.suppressed, file=file)
    if form is Format.GITHUB:
        from gpukit.checks.render_github import render_github

        return render_github(judgement.findings)
    from gpukit.checks.render_text import render_text

    return render_text(judgement.findings, judgement.suppressed) or "no findings\n"


def _read_limits(file: Path) -> dict[str, float]:
    """Return limit id or quota code -> value from what preflight wrote; exit code 2 where the file is no such thing."""
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        refuse(f"cannot read `{file}` as JSON", "write it with `gpukit preflight --json > limits.json`")
    limits = value.get("limits", value) if isinstance(value, dict) else None
    if not isinstance(limits, dict) or not all(
        isinstance(number, (int, float)) and not isinstance(number, bool) for number in limits.values()
    ):
        refuse(f"`{file}` holds no limits", "write it with `gpukit preflight --json > limits.json`")
    return {str(name): float(number) for name, number in limits.items()}
