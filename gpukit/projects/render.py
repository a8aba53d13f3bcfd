"""
Render a template's files for a project.

Shipped templates are plain `pulumi new` templates: `${PROJECT}` and `${DESCRIPTION}` are replaced. A platform team's
files that end in `.j2` are Jinja2 with `[[ value ]]` and `[% statement %]`, because `{{ }}` belongs to workflows and
Helm; an unknown name is an error, and so is a path that leaves the project.
"""

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from gpukit.projects.manifest import TemplateError
from gpukit.projects.sources import Template

SUFFIX: Final = ".j2"
_TEMPLATE_SECTION: Final = re.compile(r"^template:\n(?:[ \t]+.*\n|\n)*", re.MULTILINE)


def render_files(template: Template, values: Mapping[str, Any]) -> dict[str, bytes]:
    """Return path -> content of the project's files; `values` holds `project`, `description` and all answers."""
    rendered: dict[str, bytes] = {}
    for path, content in template.files.items():
        target = path if template.is_shipped else _render_text(path, values, where=path)
        if not template.is_shipped and target.endswith(SUFFIX):
            target = target.removesuffix(SUFFIX)
            content = _render_text(_decode(content, path), values, where=path).encode()
        elif template.is_shipped:
            content = _fill_pulumi_marks(path, content, values)
        _require_inside(target, path)
        if target in rendered:
            raise TemplateError(f"two files of the template become `{target}`")
        rendered[target] = content
    return rendered


def render_shipped_text(text: str, values: Mapping[str, Any], *, where: str) -> str:
    """Return a shipped Jinja2 file (CI workflows) with its values."""
    return _render_text(text, values, where=where)


def _render_text(text: str, values: Mapping[str, Any], *, where: str) -> str:
    from jinja2 import StrictUndefined
    from jinja2 import TemplateError as JinjaError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        variable_start_string="[[",
        variable_end_string="]]",
        block_start_string="[%",
        block_end_string="%]",
        comment_start_string="[#",
        comment_end_string="#]",
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )
    environment.filters["yaml"] = _as_yaml
    try:
        return environment.from_string(text).render(dict(values))
    except JinjaError as error:
        line = getattr(error, "lineno", None)
        raise TemplateError(f"{where}{f':{line}' if line else ''}: {error}") from error
    except (TypeError, ValueError, OverflowError, ArithmeticError) as error:
        raise TemplateError(f"{where}: {error}") from error


def _as_yaml(value: Any) -> str:
    """Return a value as YAML on one line, quoted where it needs to be: `[[ team | yaml ]]`."""
    import json

    return json.dumps(value, ensure_ascii=False)


def _fill_pulumi_marks(path: str, content: bytes, values: Mapping[str, Any]) -> bytes:
    text = _decode(content, path)
    if path == "Pulumi.yaml":
        # As `pulumi new` does: the project keeps no trace of having been a template. Values are quoted for YAML here.
        text = _TEMPLATE_SECTION.sub("", text)
        text = text.replace("${PROJECT}", str(values["project"]))
        return text.replace("${DESCRIPTION}", _as_yaml(values["description"])).encode()
    return (
        text.replace("${PROJECT}", str(values["project"]))
        .replace("${DESCRIPTION}", str(values["description"]))
        .encode()
    )


def _decode(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TemplateError(f"{path} is not UTF-8 text") from error


def _require_inside(target: str, path: str) -> None:
    parts = PurePosixPath(target)
    bad = parts.is_absolute() or ".." in parts.parts or not target.strip() or "\\" in target or ":" in target
    if bad or parts.parts[0] == ".git" or re.search(r"[\x00-\x1f]", target):
        raise TemplateError(f"the file `{path}` of the template becomes `{target}`, which is not inside the project")
