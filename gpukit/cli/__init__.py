"""
The command line: parses and prints, and holds no rule.

Each command lives in its own module and is imported when it is called: `gpukit plan` does not pay for the others.
Data goes to stdout, talk to stderr. Exit codes: 0 fine, 1 findings of level error, 2 bad usage or unreadable input,
3 a needed tool or service is missing, 4 the gate refused.
"""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

# A command lives for a third of a second and makes little garbage; collecting while modules load costs a sixth of it.
gc.set_threshold(200_000, 20, 20)
# pydantic would look through every installed package for plug-ins of its own; none is wanted here.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")

import typer  # noqa: E402
import typer.main  # noqa: E402
from typer.core import TyperGroup  # noqa: E402

from gpukit import __version__  # noqa: E402

COMMANDS: Final[dict[str, tuple[str, str]]] = {
    "plan": ("gpukit.cli.plan", "Decide a whole cluster and show it"),
    "check": ("gpukit.cli.check", "Find every costly mistake before any cloud call"),
    "explain": ("gpukit.cli.explain", "Say why a number, zone, type or mode was chosen, or what a code means"),
    "cost": ("gpukit.cli.cost", "Price a plan line by line, with the source of each price"),
    "preview": ("gpukit.cli.preview", "Show what a change would do, without engine, cloud or credentials"),
    "report": ("gpukit.cli.report", "Turn an engine preview into the comment that people decide on, with gates"),
    "new": ("gpukit.cli.new", "Start a project of your own from a template, with its CI"),
    "schema": ("gpukit.cli.schema", "Print the JSON Schema of the stack file"),
    "catalog": ("gpukit.cli.catalog", "List and show instance types, GPUs, limits, prices and images"),
    "images": ("gpukit.cli.images", "Change an image pin in a stack file"),
    "sandbox": ("gpukit_sandbox.cli", "Run the embedded cloud on this machine"),
    "drill": ("gpukit.cli.drill", "Bring a whole preset up in the sandbox and run a job over every GPU"),
    "preflight": ("gpukit.cli.preflight", "Ask the real account, read-only, whether the plan can be built"),
    "leaks": ("gpukit.cli.leaks", "List what still exists and costs money after a destroy"),
}
"""Command -> module and one line of help. Source of the order: how a stack is lived, from first look to last."""


class _Commands(TyperGroup):
    """A group that imports a command when it is called, and lists all without importing any."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in COMMANDS if _exists(COMMANDS[name][0])]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        try:
            module: Any = import_module(COMMANDS[cmd_name][0])
        except ModuleNotFoundError as missing:
            _leave_without(cmd_name, missing)
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from gpukit.nearest import nearest

            near = nearest(args[0], COMMANDS)
            hint = f"did you mean `{near[0]}`?" if near else f"there are: {', '.join(self.list_commands(ctx))}"
            sys.stderr.write(f"there is no command `{args[0][:80]}`\n  fix: {hint}\n")
            raise typer.Exit(2)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][1]) for name in self.list_commands(ctx)])


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(wanted: bool) -> None:
    if wanted:
        sys.stdout.write(f"gpukit {__version__}\n")
        raise typer.Exit()


@app.callback()
def cli(
    version: bool = typer.Option(False, "--version", help="Show the version.", callback=_show_version, is_eager=True),
) -> None:
    """Plan, check, show and build GPU clusters.

    Start with `gpukit plan --preset single-node`.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code; a bug in gpukit is told in one line, not as a traceback."""
    _make_streams_safe()
    sys.exit(_run(list(arguments) if arguments is not None else None))


def _run(arguments: list[str] | None) -> int:
    try:
        command = typer.main.get_command(app)
        code = command.main(args=arguments, prog_name="gpukit", standalone_mode=False)
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except BrokenPipeError:
        # the reader (`head`, a pager) has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (KeyboardInterrupt, typer.Abort):
        sys.stderr.write("stopped\n")
        return 130
    except typer.Exit as left:
        return int(getattr(left, "exit_code", 0))
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        sys.stderr.write(
            f"{error.strerror or type(error).__name__}{where}\n  fix: name a place that can be read and written\n"
        )
        return 2
    except Exception as error:
        show: Any = getattr(error, "show", None)
        if callable(show) and isinstance(getattr(error, "exit_code", None), int):
            # a wrong call of the command line, which knows how to tell itself
            show()
            return int(getattr(error, "exit_code", 2))
        if os.environ.get("GPUKIT_DEBUG"):
            raise
        first = (str(error).splitlines() or [""])[0][:300]
        sys.stderr.write(
            f"gpukit failed by a mistake of its own: {type(error).__name__}: {first}\n"
            "Nothing was changed by this command. Set GPUKIT_DEBUG=1 to see where it happened.\n"
        )
        return 2


def _make_streams_safe() -> None:
    """Let output without a home go nowhere, and letters that a terminal cannot show become escapes."""
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _exists(module: str) -> bool:
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def _leave_without(command: str, missing: ModuleNotFoundError) -> NoReturn:
    extra = "sandbox" if command == "sandbox" else "aws" if command in ("preflight", "leaks") else "pulumi"
    name = (missing.name or "").split(".")[0]
    if name.startswith("gpukit") and name != "gpukit_sandbox":
        raise missing
    sys.stderr.write(
        f"`gpukit {command}` needs the Python package `{name}`, which is not installed here\n"
        f"  fix: pip install 'gpukit[{extra}]'\n"
    )
    sys.exit(3)
