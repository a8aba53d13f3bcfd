"""`gpukit new`: a project of one's own from a template, with its CI, and later the template's newer versions."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from gpukit.projects.make import UpdatedProject
    from gpukit.projects.manifest import Question

EXIT_CONFLICTS = 1
EXIT_BAD_INPUT = 2

app = typer.Typer(name="new", add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def command(
    name: Annotated[
        str | None, typer.Argument(help="Folder and name of the project; with --update the folder.")
    ] = None,
    template: Annotated[str, typer.Option(help="A shipped template; `--list` shows them.")] = "gpu-single-node",
    source: Annotated[
        str | None,
        typer.Option("--from", help="A platform team's template: a folder or the address of a git repository."),
    ] = None,
    ref: Annotated[str | None, typer.Option(help="Revision of the template's repository.")] = None,
    ci: Annotated[str | None, typer.Option(help="Write CI files for github or gitlab.")] = None,
    answers: Annotated[Path | None, typer.Option(help="YAML file with answers to the template's questions.")] = None,
    answer: Annotated[list[str] | None, typer.Option(help="One answer, NAME=VALUE; repeat for several.")] = None,
    description: Annotated[str, typer.Option(help="One line for Pulumi.yaml and the README.")] = "",
    update: Annotated[
        bool, typer.Option("--update", help="Bring the project to its template's present version.")
    ] = False,
    list_templates: Annotated[bool, typer.Option("--list", help="List the shipped templates.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was written as JSON.")] = False,
) -> None:
    """
    Start a project that is ready for `make up` and `pulumi up`.

    Exit codes: 0 fine, 1 the update left conflicts to decide, 2 bad usage or a template that cannot be used.
    """
    from gpukit.projects.ci import CiKind
    from gpukit.projects.make import make_project, update_project
    from gpukit.projects.manifest import TemplateError

    if list_templates:
        _list(as_json)
        return
    try:
        given = _answers(answers, answer or [])
        ask = _ask if sys.stdin.isatty() and sys.stderr.isatty() and answers is None else None
        if update:
            updated = update_project(Path(name or "."), ref=ref, answers=given, ask=None)
            _tell_update(updated, as_json)
            if updated.has_conflicts:
                raise typer.Exit(EXIT_CONFLICTS)
            return
        if name is None:
            _stop("the project's name is missing: gpukit new NAME")
        if ci is not None and ci not in tuple(CiKind):
            _stop(f"--ci {ci}: there are {', '.join(CiKind)}")
        made = make_project(
            Path(name),
            origin=source if source is not None else f"shipped:{template}",
            ref=ref or "",
            description=description,
            answers=given,
            ask=ask,
            ci=CiKind(ci) if ci else None,
        )
    except TemplateError as error:
        _stop(str(error))
    for note in made.notes:
        typer.echo(f"note: {note}", err=True)
    if as_json:
        _json({"folder": str(made.folder), "files": list(made.files), "notes": list(made.notes)})
    else:
        typer.echo("\n".join(made.files))
        typer.echo(f"\n{made.folder} is ready. Next: cd {made.folder} && make plan && make up", err=True)


def _list(as_json: bool) -> None:
    from gpukit.projects.sources import load_shipped, shipped_names

    templates = [load_shipped(name) for name in shipped_names()]
    if as_json:
        _json([{"name": one.name, "description": one.description} for one in templates])
        return
    width = max(len(one.name) for one in templates)
    for one in templates:
        typer.echo(f"{one.name:<{width}}  {one.description}")


def _tell_update(updated: "UpdatedProject", as_json: bool) -> None:
    for note in updated.notes:
        typer.echo(f"note: {note}", err=True)
    if as_json:
        _json(
            {
                "folder": str(updated.folder),
                "from": updated.old_version,
                "to": updated.new_version,
                "files": [{"path": f.path, "outcome": f.outcome.value, "says": f.says} for f in updated.files],
            }
        )
        return
    if not updated.files:
        typer.echo(f"nothing to update: version {updated.new_version} gives the same files")
        return
    typer.echo(f"{updated.old_version} -> {updated.new_version}")
    for one in updated.files:
        typer.echo(f"{one.outcome.value:<9} {one.path}{f': {one.says}' if one.says else ''}")


def _answers(file: Path | None, pairs: list[str]) -> dict[str, Any]:
    from gpukit.projects.manifest import load_mapping

    given: dict[str, Any] = {}
    if file is not None:
        try:
            given.update(load_mapping(file.read_text(encoding="utf-8"), where=str(file)))
        except OSError as error:
            _stop(f"{file} cannot be read: {error.strerror or error}")
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            _stop(f"--answer {pair}: write NAME=VALUE")
        given[key] = value
    return given


def _ask(question: "Question", problem: str) -> Any:
    if problem:
        typer.echo(problem, err=True)
    elif question.help:
        typer.echo(question.help, err=True)
    text = question.question or question.name
    if question.choices:
        text += f" ({', '.join(question.choices)})"
    return typer.prompt(text, default=question.default, err=True)


def _json(value: Any) -> None:
    import json

    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _stop(message: str) -> NoReturn:
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(EXIT_BAD_INPUT)
