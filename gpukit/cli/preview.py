"""`gpukit preview`: the resources a stack would make and what would change, without engine, cloud or credentials."""

import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    import datetime
    from collections.abc import Callable

    from gpukit.preview.offline import OfflinePreview
    from gpukit.report.stack_numbers import StackNumbers

EXIT_FAILED = 1
EXIT_BAD_INPUT = 2
EXIT_MISSING = 3
EXIT_REFUSED = 4


def command(
    file: Annotated[Path | None, typer.Argument(help="A cluster file or stack file outside a Pulumi project.")] = None,
    stack: Annotated[str | None, typer.Option(help="Stack of the Pulumi project here or above.")] = None,
    preset: Annotated[str | None, typer.Option(help="A preset; with FILE the preset below it.")] = None,
    base: Annotated[str | None, typer.Option(help="Git revision to compare with, for example origin/main.")] = None,
    base_file: Annotated[
        Path | None, typer.Option(help="Recording to compare with, written by --save on the base.")
    ] = None,
    save: Annotated[Path | None, typer.Option(help="Write the recording of the working tree here.")] = None,
    fail_on: Annotated[str, typer.Option(help="Gates, as in `gpukit report --fail-on`.")] = "",
    allow_file: Annotated[str, typer.Option(help="Path of the allow list in the repository.")] = ".gpukit/allow.yaml",
    form: Annotated[str, typer.Option("--format", help="text, markdown, json or summary.")] = "text",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here and not to stdout.")] = None,
    limit: Annotated[int, typer.Option(help="Most characters of a comment.", min=2_000)] = 60_000,
    today: Annotated[str | None, typer.Option(help="Day for dates, YYYY-MM-DD.")] = None,
    directory: Annotated[Path, typer.Option("--cwd", "-C", help="Work as if started in this folder.")] = Path(),
) -> None:
    """
    Show what a stack would make, and what a change of it would create, update, replace and delete.

    Runs the program with recorded answers in place of a cloud. Exit codes: 0 fine, 1 the program stopped with an
    error, 2 unreadable input or bad usage, 3 the components are not installed or git is missing or silent, 4 a gate
    refused.
    """
    import datetime
    from concurrent.futures import ThreadPoolExecutor

    from gpukit.preview.gate_files import broken_limits, load_allow_list
    from gpukit.preview.project import ProjectError
    from gpukit.preview.record import ProgramFailed, RecorderMissing
    from gpukit.preview.recording import render_recording
    from gpukit.preview.revision import GitMissing, RevisionError
    from gpukit.projects.manifest import TemplateError
    from gpukit.report.change import UnreadablePreview
    from gpukit.report.gates import BadGate, parse_gates
    from gpukit.report.pipeline import ReportFormat, complete_change, judge_change, render_report

    try:
        chosen = ReportFormat.JSON if as_json else ReportFormat(form)
        day = datetime.date.fromisoformat(today) if today else datetime.date.today()
    except ValueError as error:
        _stop(EXIT_BAD_INPUT, f"{error}; --format is one of {', '.join(ReportFormat)}, --today is YYYY-MM-DD")
    if base is not None and base_file is not None:
        _stop(EXIT_BAD_INPUT, "name either --base or --base-file")
    try:
        gates = parse_gates(fail_on)
        work, stack_file = _choose(
            file=file, stack=stack, preset=preset, base=base, base_file=base_file, directory=directory
        )
        # The program runs in a process of its own; plan and checks need not wait for it.
        with ThreadPoolExecutor(max_workers=1) as beside:
            numbers = beside.submit(_numbers, stack_file, preset, day)
            made = work()
            known = numbers.result()
        change = complete_change(made.change, after=known.numbers, findings=known.findings)
        allowed = load_allow_list(directory, base=base, stack=change.stack, today=day, path=allow_file)
        over = broken_limits(directory, base=base, known=known)
        report = judge_change(change, gates=(*gates, *known.gates), allowed=allowed, over_limits=over)
    except (RecorderMissing, GitMissing) as error:
        _stop(EXIT_MISSING, str(error))
    except (ProjectError, UnreadablePreview, BadGate, TemplateError, RevisionError) as error:
        _stop(EXIT_BAD_INPUT, str(error))
    except ProgramFailed as error:
        _stop(EXIT_FAILED, str(error))
    text = render_report(report, chosen, limit=limit)
    if save is not None:
        save.write_text(render_recording(made.head), encoding="utf-8")
    if output is not None:
        output.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)
    if report.refused:
        assert report.gate is not None
        typer.echo(f"refused on {change.stack}: {report.gate.reason}", err=True)
        raise typer.Exit(EXIT_REFUSED)


def _choose(
    *,
    file: Path | None,
    stack: str | None,
    preset: str | None,
    base: str | None,
    base_file: Path | None,
    directory: Path,
) -> "tuple[Callable[[], OfflinePreview], Path | None]":
    """Return what to run and the stack file it is about; raises ProjectError before anything runs."""
    from gpukit.preview.offline import preview_file, preview_preset, preview_project
    from gpukit.preview.project import ProjectError, find_project
    from gpukit.preview.recording import parse_recording

    saved = None
    if base_file is not None:
        if not base_file.is_file():
            raise ProjectError(f"there is no recording {base_file}; write it with: gpukit preview --save")
        saved = parse_recording(base_file.read_text(encoding="utf-8"), where=str(base_file))
    if file is not None:
        if not file.is_file():
            raise ProjectError(f"there is no file {file}")
        return partial(preview_file, file, preset=preset, base_ref=base, base=saved), file
    if preset is not None:
        if base is not None:
            raise ProjectError("a preset alone has no other revision; name a FILE or a --stack with --base")
        return partial(preview_preset, preset, base=saved), None
    project = find_project(directory)
    if stack is None:
        known = project.stacks
        if len(known) != 1:
            raise ProjectError(f"--stack is missing; {project.config_folder} has {', '.join(known) or 'no stack file'}")
        stack = known[0]
    if not project.stack_file(stack).is_file():
        raise ProjectError(
            f"there is no stack file {project.stack_file(stack)}; there are: {', '.join(project.stacks) or 'none'}"
        )
    return partial(preview_project, project, stack, base_ref=base, base=saved), project.stack_file(stack)


def _numbers(stack_file: Path | None, preset: str | None, day: "datetime.date") -> "StackNumbers":
    from gpukit.report.change import Numbers
    from gpukit.report.stack_numbers import StackNumbers, numbers_of_file, numbers_of_preset

    if stack_file is not None:
        return numbers_of_file(stack_file, today=day, preset=preset)
    if preset is not None:
        return numbers_of_preset(preset, today=day)
    return StackNumbers(numbers=Numbers(), findings=(), gates=())


def _stop(code: int, message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(code)


app = typer.Typer(name="preview", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.command()(command)
