"""`gpukit images`: change an image pin in a stack file, so that a pull request shows it."""

import os
import tempfile
from pathlib import Path

import typer

from gpukit.cli.inputs import StackOption, refuse, stack_file
from gpukit.cli.output import say

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="Change an image pin in a stack file. `gpukit catalog images` lists what is known.",
)


@app.callback()
def images() -> None:
    """Change an image pin in a stack file. `gpukit catalog images` lists what is known."""


@app.command()
def bump(
    image: str = typer.Argument(help="Name of the image in the stack file's `images`."),
    to: str = typer.Option(
        ..., "--to", help="The new pin: ami-..., 1.36.2-20260728, a container with digest, a version."
    ),
    file: Path | None = typer.Argument(None, metavar="FILE", help="The stack file to change.", show_default=False),
    stack: StackOption = None,
) -> None:
    """Write another pin for one image into the stack file; everything else stays byte for byte.

    Nothing is built and nothing is looked up: the change is one line that a pull request shows. Exit codes: 0 written,
    2 no such image or a pin that can move.
    """
    from gpukit.images.listing import bump_image
    from gpukit.images.manifest import ImageError

    if (file is None) == (stack is None):
        refuse("name the stack file to change", "give a FILE, or --stack NAME")
    target = file if file is not None else stack_file(str(stack))
    try:
        text = target.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        refuse(f"cannot read `{target}`: {error.strerror if isinstance(error, OSError) else 'it is not UTF-8 text'}")
    try:
        changed = bump_image(text, image, to)
    except ImageError as problem:
        refuse(f"{problem.problem}: {problem.why}", problem.fix)
    if changed == text:
        say(f"{target}: images.{image} has this pin already")
        return
    _write(target, changed)
    say(f"{target}: images.{image} is pinned to {to}")


def _write(target: Path, text: str) -> None:
    """Replace the file in one step, so that an interruption leaves the old one."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
        os.chmod(name, target.stat().st_mode & 0o777)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
