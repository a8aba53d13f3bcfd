"""What a project remembers of its template: where it came from, the answers, and the text it was given last."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gpukit.projects.manifest import TemplateError, load_mapping
from gpukit.report.redaction import is_secret_key

RECORD_FILE: Final = ".gpukit/template.yaml"
BASE_FILE: Final = ".gpukit/template-base.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectRecord:
    """The origin of a project. `base` maps paths to the text of the last rendering, for three-way merges."""

    project: str
    description: str
    template: str
    version: str
    origin: str
    ref: str
    commit: str
    ci: str
    answers: Mapping[str, Any]
    base: Mapping[str, str] = field(default_factory=dict)


def render_record(record: ProjectRecord) -> dict[str, bytes]:
    """Return the two files of a record. An answer whose name says that it is a secret is refused."""
    import yaml

    for name in record.answers:
        if is_secret_key(name):
            raise TemplateError(
                f"the answer `{name}` looks like a secret and would be written into {RECORD_FILE}; "
                "ask for the name of a secret instead, and set it with: pulumi config set --secret"
            )
    document = {
        "project": record.project,
        "description": record.description,
        "template": record.template,
        "version": record.version,
        "origin": record.origin,
        "ref": record.ref,
        "commit": record.commit,
        "ci": record.ci,
        "answers": dict(record.answers),
    }
    head = "# Where this project came from; `gpukit new --update` reads it. Commit it.\n"
    return {
        RECORD_FILE: (head + yaml.safe_dump(document, sort_keys=False)).encode(),
        BASE_FILE: (json.dumps(dict(sorted(record.base.items())), indent=1, ensure_ascii=False) + "\n").encode(),
    }


def load_record(folder: Path) -> ProjectRecord:
    """Return the record of a project; raises TemplateError where the folder is none of gpukit's."""
    file = folder / RECORD_FILE
    if not file.is_file():
        raise TemplateError(f"{folder} has no {RECORD_FILE}: it was not made by `gpukit new`, or the file was removed")
    document = load_mapping(file.read_text(encoding="utf-8"), where=str(file))
    try:
        base = json.loads((folder / BASE_FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TemplateError(f"{folder / BASE_FILE} cannot be read: {error}; restore it from git") from error
    answers = document.get("answers") or {}
    if not isinstance(answers, dict) or not isinstance(base, dict):
        raise TemplateError(f"{file} was changed by hand and cannot be read; restore it from git")
    words = {
        name: str(document.get(name) or "")
        for name in ("project", "description", "template", "version", "origin", "ref", "commit", "ci")
    }
    return ProjectRecord(answers=answers, base={str(path): str(text) for path, text in base.items()}, **words)
