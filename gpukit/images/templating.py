"""Render the templates of `gpukit/images`: marks `[[ ]]` and `[% %]`, so that shell and workflow text survives."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

HERE = Path(__file__).parent


def render_template(template: str, /, **values: Any) -> str:
    """Return a template of `templates/` or `jobs/` filled in; an undefined name is an error, never an empty text."""
    return _environment().get_template(template).render(**values)


def read_file(name: str) -> str:
    """Return a file of `files/` as it is."""
    return (HERE / "files" / name).read_text(encoding="utf-8")


def to_yaml(value: Any) -> str:
    """Return YAML with keys in the given order and no aliases: the same bytes for the same value."""
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_representer(str, _represent_text)
    return yaml.dump(value, Dumper=Dumper, sort_keys=False, width=110, allow_unicode=True)


def heredoc_mark(text: str) -> str:
    """Return an end mark for a here-document that the text cannot contain as a line."""
    from hashlib import sha256

    return "GPUKIT_" + sha256(text.encode()).hexdigest()[:12].upper()


@cache
def _environment() -> "Environment":
    import shlex

    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader([HERE / "templates", HERE / "jobs"]),
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters["quote"] = lambda value: shlex.quote(str(value))
    environment.filters["yaml"] = to_yaml
    environment.filters["mark"] = heredoc_mark
    return environment


def _represent_text(dumper: Any, text: str) -> Any:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
