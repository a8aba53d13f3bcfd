"""`gpukit sandbox`: up, status, down, run, env, faults. Data on stdout, talk on stderr; exit codes 0, 2 (bad usage), 3 (a part is missing)."""

import json
import shlex
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from gpukit_sandbox.errors import SandboxError, UnknownName
from gpukit_sandbox.state import DEFAULT_NAME, write_json

app = typer.Typer(
    name="sandbox",
    help="An embedded cloud for a laptop or CI: a double of AWS, the Pulumi engine, no account.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
faults_app = typer.Typer(
    help="Switch faults of the AWS double: throttling, no capacity, slowness, lost connections.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
app.add_typer(faults_app, name="faults")

Name = Annotated[str, typer.Option("--name", help="Which sandbox; two names live side by side.")]
Json = Annotated[bool, typer.Option("--json", help="Machine-readable output on stdout.")]


def _plain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Print what went wrong as three lines on stderr and leave with its exit code."""

    @wraps(command)
    def wrapped(*arguments: Any, **options: Any) -> None:
        try:
            command(*arguments, **options)
        except SandboxError as problem:
            typer.echo(f"error: {problem}", err=True)
            raise typer.Exit(problem.exit_code) from None

    return wrapped


@app.command()
@_plain_errors
def up(
    name: Name = DEFAULT_NAME,
    with_kubernetes: Annotated[
        bool | None,
        typer.Option(
            "--with-kubernetes/--without-kubernetes",
            help="Start a Kubernetes control plane too; kept for the next `up`.",
        ),
    ] = None,
    kubeconfig: Annotated[
        Path | None,
        typer.Option("--kubeconfig", help="Use a cluster that is there already, such as one of kind, instead."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Start the sandbox: the engine is found or built once, the AWS double started."""
    if kubeconfig is not None and with_kubernetes is not None:
        raise UnknownName("--kubeconfig and --with-kubernetes exclude each other", fix="state one of them")
    status = _sandbox(name).up(_say, with_kubernetes=with_kubernetes, kubeconfig=kubeconfig)
    if as_json:
        typer.echo(json.dumps(status, indent=2, sort_keys=True))
    else:
        typer.echo(status["endpoint"])
        if status["kubeconfig"]:
            _say(f"kubeconfig: {status['kubeconfig']}")
        _say(f"sandbox {name!r} is up; try `gpukit sandbox run -- pulumi preview`")


@app.command()
@_plain_errors
def status(name: Name = DEFAULT_NAME, as_json: Json = False) -> None:
    """Show what runs: parts, endpoint, stacks."""
    from gpukit.counted import counted

    found = _sandbox(name).status()
    if as_json:
        typer.echo(json.dumps(found, indent=2, sort_keys=True))
        return
    lines = [
        ("sandbox", found["name"]),
        ("running", "yes" if found["running"] else "no"),
        ("endpoint", found["endpoint"] or "-"),
    ]
    lines += [("kubeconfig", found["kubeconfig"])] if found["kubeconfig"] else []
    lines += [("engine", found["engine"] or "not built yet"), ("directory", found["directory"])]
    for part in found["parts"]:
        lines.append(
            (
                f"part {part['name']}",
                f"pid {part['pid']}, {'running' if part['running'] else 'ended'}, log {part['log']}",
            )
        )
    lines += [("stack", f"{stack}, {counted(number, 'resource')}") for stack, number in found["resources"].items()]
    lines += [
        (f"world {place}", ", ".join(f"{kind} {number:,}" for kind, number in sorted(kinds.items())))
        for place, kinds in sorted(found["world"].items())
        if isinstance(kinds, dict) and kinds
    ]
    for label, value in lines:
        typer.echo(f"{label:<15} {value}")
    for part in found["parts"]:
        if not part["running"]:
            _say(f"{part['name']} ended by itself; its last lines:\n        {part['last_lines']}")


@app.command()
@_plain_errors
def down(
    name: Name = DEFAULT_NAME,
    purge: Annotated[
        bool, typer.Option("--purge", help="Remove the sandbox's files too: its world and its stacks.")
    ] = False,
) -> None:
    """End what the sandbox started."""
    _sandbox(name).down(purge=purge)
    _say(f"sandbox {name!r} is down" + (", its files are gone" if purge else "; its world is kept for the next `up`"))


@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
)
@_plain_errors
def run(context: typer.Context, name: Name = DEFAULT_NAME) -> None:
    """Run a command in the sandbox's environment, for example `gpukit sandbox run -- pulumi up`; starts the sandbox if needed."""
    if not context.args:
        raise UnknownName("no command is stated", fix="write it after `--`: gpukit sandbox run -- pulumi preview")
    raise typer.Exit(_sandbox(name).run(context.args, progress=_say))


@app.command()
@_plain_errors
def env(name: Name = DEFAULT_NAME, as_json: Json = False) -> None:
    """Print the sandbox's environment as shell exports: eval "$(gpukit sandbox env)"."""
    box = _sandbox(name)
    if not box.status()["running"]:
        box.up(_say)
    variables = box.variables()
    if as_json:
        typer.echo(json.dumps(variables, indent=2, sort_keys=True))
        return
    for variable, value in sorted(variables.items()):
        typer.echo(f"export {variable}={shlex.quote(value)}")
    # What these would send elsewhere must not survive from the user's shell.
    typer.echo("unset AWS_PROFILE AWS_SESSION_TOKEN")


@faults_app.command("get")
@_plain_errors
def faults_get(name: Name = DEFAULT_NAME) -> None:
    """Print the faults that are on, as JSON."""
    from gpukit_sandbox.state import read_json

    typer.echo(json.dumps(read_json(_faults_file(name)), indent=2, sort_keys=True))


@faults_app.command("set")
@_plain_errors
def faults_set(
    faults: Annotated[str, typer.Argument(help="A JSON object, a file with one, or - for stdin, for example "
                                          '\'{"throttle": [{"action": "ec2:*", "per_second": 2}]}\'.')],
    name: Name = DEFAULT_NAME,
) -> None:  # fmt: skip
    """Replace the faults. They strike at once, and until `clear`."""
    from gpukit_sandbox.cloud.faults import KINDS

    text = sys.stdin.read() if faults == "-" else faults if faults.lstrip()[:1] == "{" else _read_text(Path(faults))
    try:
        wanted = json.loads(text)
    except json.JSONDecodeError as problem:
        raise UnknownName(
            f"the faults are not JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}"
        ) from None
    if not isinstance(wanted, dict) or not all(isinstance(rows, list) for rows in wanted.values()):
        raise UnknownName("the faults must be an object of lists", fix=f"its keys are {', '.join(KINDS)}")
    for kind in wanted:
        if kind not in KINDS:
            raise UnknownName(f"no fault is called {kind!r}", fix=f"use {', '.join(KINDS)}")
    write_json(_faults_file(name), wanted)
    _say(_tell_faults(sum(len(rows) for rows in wanted.values()), name))


@faults_app.command("clear")
@_plain_errors
def faults_clear(name: Name = DEFAULT_NAME) -> None:
    """Switch every fault off."""
    _faults_file(name).unlink(missing_ok=True)
    _say(f"no fault is on in sandbox {name!r}")


def _tell_faults(number: int, name: str) -> str:
    return f"{number} fault{' is' if number == 1 else 's are'} on in sandbox {name!r}"


def _faults_file(name: str) -> Path:
    return Path(_sandbox(name).directory.cloud) / "faults.json"


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as problem:
        raise UnknownName(f"{path} cannot be read: {problem.strerror}") from problem


def _sandbox(name: str) -> Any:
    from gpukit_sandbox.sandbox import Sandbox

    return Sandbox(name)


def _say(line: str) -> None:
    typer.echo(line, err=True)


if __name__ == "__main__":
    app()
