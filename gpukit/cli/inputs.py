"""Turn FILE, --preset, --stack and --set into one input, the same way for every command."""

import sys
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from gpukit.planning import PlanResult

FileArgument = Annotated[
    Path | None, typer.Argument(metavar="FILE", help="A cluster file or a Pulumi stack file.", show_default=False)
]
PresetOption = Annotated[
    str | None, typer.Option("--preset", help="A preset, alone or under FILE.", show_default=False)
]
StackOption = Annotated[
    str | None, typer.Option("--stack", help="A stack of the Pulumi project here, such as dev.", show_default=False)
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="Change one key: pools.train.nodes=64. May be given again.", show_default=False),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
TodayOption = Annotated[
    str | None, typer.Option("--today", help="Plan as if it were this day (YYYY-MM-DD).", show_default=False)
]


def refuse(problem: str, fix: str = "") -> NoReturn:
    """Leave with exit code 2 and a message that says what to do."""
    sys.stderr.write(problem + (f"\n  fix: {fix}" if fix else "") + "\n")
    raise typer.Exit(2)


def read_today(text: str | None) -> date:
    """Return the day to plan for; exit code 2 where the text is no day."""
    if text is None:
        return date.today()
    try:
        day = date.fromisoformat(text)
    except ValueError:
        refuse(f"`{text[:40]}` is not a day", "write it like 2026-12-31")
    if not 2000 <= day.year < 2200:
        refuse(f"nothing can be planned for the year {day.year}", "write a day between 2000 and 2199")
    return day


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A Pulumi project on disk: where its stack files are."""

    folder: Path
    stack_folder: Path

    def stacks(self) -> list[str]:
        """Return the names of the stacks that have a file."""
        return sorted(file.name[len("Pulumi.") : -len(".yaml")] for file in self.stack_folder.glob("Pulumi.*.yaml"))


def find_project(start: Path | None = None) -> Project | None:
    """Return the Pulumi project of this folder or of the nearest parent that has a Pulumi.yaml."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        file = folder / "Pulumi.yaml"
        if file.is_file():
            import yaml

            try:
                settings = yaml.safe_load(file.read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError, yaml.YAMLError):
                settings = None
            inside = settings.get("stackConfigDir") if isinstance(settings, dict) else None
            return Project(folder=folder, stack_folder=folder / inside if isinstance(inside, str) else folder)
    return None


def stack_file(stack: str) -> Path:
    """Return the file of a stack; exit code 2 where there is no project or no such stack."""
    project = find_project()
    if project is None:
        refuse("there is no Pulumi project here", "go to the folder with Pulumi.yaml, or name a FILE")
    file = project.stack_folder / f"Pulumi.{stack}.yaml"
    if "/" in stack or not file.is_file():
        from gpukit.nearest import nearest

        near = nearest(stack, project.stacks())
        known = ", ".join(project.stacks()) or "none"
        refuse(
            f"the stack `{stack[:80]}` has no file; there are: {known}", f"did you mean `{near[0]}`?" if near else ""
        )
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file


def asked_for(file: Path | None, preset: str | None, stack: str | None, sets: list[str] | None) -> str:
    """Return what the user named, as arguments for the next command."""
    import shlex

    words = [str(file)] if file is not None else []
    words += ["--stack", stack] if stack is not None else []
    words += ["--preset", preset] if preset is not None else []
    for text in sets or []:
        words += ["--set", text]
    return shlex.join(words)


def plan_input(
    file: Path | None, preset: str | None, stack: str | None, sets: list[str] | None, today: date
) -> "PlanResult":
    """Return the plan of what the user named; exit code 2 where nothing or too much was named."""
    from gpukit.planning import plan_from_file, plan_from_preset
    from gpukit.stackfile import parse_set

    if file is not None and stack is not None:
        refuse("FILE and --stack name two stacks", "give one of them")
    for text in sets or []:
        try:
            parse_set(text)
        except ValueError as error:
            refuse(f"--set {error}", "write --set pools.train.nodes=64")
    given = tuple(sets or ())
    if stack is not None:
        return plan_from_file(stack_file(stack), preset=preset, sets=given, today=today)
    if file is not None:
        return plan_from_file(file, preset=preset, sets=given, today=today)
    if preset is not None:
        return plan_from_preset(preset, sets=given, today=today)
    refuse("nothing was named to plan", _offer())


def _offer() -> str:
    from gpukit.spec.presets import preset_names

    project = find_project()
    stacks = f", --stack NAME ({', '.join(project.stacks())})" if project and project.stacks() else ""
    return f"give a FILE, --preset NAME ({', '.join(preset_names())}){stacks}"
