"""`gpukit schema`: the JSON Schema of the stack file, for editors."""

import typer

from gpukit.cli.output import print_json

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def schema(as_json: bool = typer.Option(True, "--json", help="Print JSON (the only form).", hidden=True)) -> None:
    """Print the JSON Schema of the stack file.

    Editors use it when a file starts with `# yaml-language-server: $schema=PATH`.
    """
    from gpukit.spec.schema import stack_file_schema

    print_json(stack_file_schema())
