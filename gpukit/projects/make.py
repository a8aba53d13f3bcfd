"""Make a project from a template, and bring it to a newer version of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from gpukit.projects.answers import Ask, settle_answers
from gpukit.projects.ci import CiKind, render_ci
from gpukit.projects.limits import LIMITS_FILE, OrgLimits, render_limits
from gpukit.projects.manifest import TemplateError
from gpukit.projects.merge import MergedFile, MergeOutcome, merge_files
from gpukit.projects.record import ProjectRecord, load_record, render_record
from gpukit.projects.render import SUFFIX, render_files
from gpukit.projects.sources import Template, open_template

SCHEMA_FILE: Final = ".gpukit/stack.schema.json"
_PROJECT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}")
_STACK_FILE: Final = re.compile(r"(?:.*/)?Pulumi\.(?P<stack>[^/]+)\.yaml")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeProject:
    """A project on disk: its files, and what the makers of the template have to say."""

    folder: Path
    files: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdatedProject:
    """A project after an update: every file that was touched, and the versions."""

    folder: Path
    old_version: str
    new_version: str
    files: tuple[MergedFile, ...]
    notes: tuple[str, ...]

    @property
    def has_conflicts(self) -> bool:
        """Whether a person has to decide something."""
        return any(file.outcome is MergeOutcome.CONFLICT for file in self.files)


def make_project(
    folder: Path,
    *,
    origin: str,
    ref: str = "",
    description: str = "",
    answers: Mapping[str, Any] | None = None,
    ask: Ask | None = None,
    ci: CiKind | None = None,
) -> MadeProject:
    """Return the project that was written into a new or empty folder; raises TemplateError, and then writes nothing."""
    name = folder.name
    if not _PROJECT_NAME.fullmatch(name):
        raise TemplateError(
            f"`{name}` is no name of a project: letters, digits, `-`, `_` and `.`, and a letter or digit first"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise TemplateError(f"{folder} exists and is not empty; choose another name, or empty it")
    with open_template(origin, ref=ref) as template:
        settled = settle_answers(list(template.questions), answers or {}, ask=ask)
        files, record = _render(
            template, project=name, description=description or template.description, answers=settled, ci=ci
        )
    everything = {**files, SCHEMA_FILE: _stack_schema(), **render_record(record)}
    _write(folder, everything, template.executable)
    return MadeProject(folder=folder, files=tuple(sorted(everything)), notes=template.notes)


def update_project(
    folder: Path, *, ref: str | None = None, answers: Mapping[str, Any] | None = None, ask: Ask | None = None
) -> UpdatedProject:
    """Return the project after its template's present version was merged into it; raises TemplateError."""
    old = load_record(folder)
    with open_template(old.origin, ref=old.ref if ref is None else ref) as template:
        names = {question.name for question in template.questions}
        kept = {name: value for name, value in old.answers.items() if name in names}
        # Questions that are new are asked or take their default; answers that were given stay.
        settled = settle_answers(list(template.questions), {**kept, **(answers or {})}, ask=ask)
        files, record = _render(
            template,
            project=old.project,
            description=old.description,
            answers=settled,
            ci=CiKind(old.ci) if old.ci else None,
        )
    if ref is not None:
        record = replace(record, ref=ref)
    merged = merge_files(old.base, files, folder)
    for one in merged:
        path = folder / one.path
        if one.content is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(one.content)
    _write(folder, {SCHEMA_FILE: _stack_schema(), **render_record(record)}, frozenset())
    return UpdatedProject(
        folder=folder,
        old_version=old.version,
        new_version=record.version,
        files=tuple(merged),
        notes=template.notes,
    )


def _render(
    template: Template, *, project: str, description: str, answers: Mapping[str, Any], ci: CiKind | None
) -> tuple[dict[str, bytes], ProjectRecord]:
    if re.search(r"[\r\n\x00]", description):
        raise TemplateError("the description has a line break; it is one line of Pulumi.yaml")
    values = {"project": project, "description": description, **answers}
    files = render_files(template, values)
    if template.limits != OrgLimits():
        files[LIMITS_FILE] = render_limits(template.limits).encode()
    if ci is not None:
        stacks = tuple(match["stack"] for path in files if (match := _STACK_FILE.fullmatch(path)))
        files.update(render_ci(ci, stacks=stacks or ("dev",)))
    base = {path: content.decode("utf-8") for path, content in files.items() if _is_text(content)}
    return files, ProjectRecord(
        project=project,
        description=description,
        template=template.name,
        version=template.version,
        origin=template.origin,
        ref=template.ref,
        commit=template.commit,
        ci=ci.value if ci else "",
        answers=answers,
        base=base,
    )


def _stack_schema() -> bytes:
    """Return the schema that the first line of a stack file names, for editors."""
    import json

    from gpukit.spec.schema import stack_file_schema

    return (json.dumps(stack_file_schema(), indent=2, sort_keys=True) + "\n").encode()


def _write(folder: Path, files: Mapping[str, bytes], executable: frozenset[str]) -> None:
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        if path in executable or f"{path}{SUFFIX}" in executable:
            target.chmod(0o755)


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
