"""The CI files of a project: preview, comment, gate, deployment with approval, drift, end of short-lived stacks."""

from enum import StrEnum
from typing import Final

from gpukit.projects.manifest import TemplateError
from gpukit.projects.render import render_shipped_text
from gpukit.projects.sources import shipped_folder

DEFAULT_GATES: Final = "replace,delete,finding:error"


class CiKind(StrEnum):
    """Whose CI."""

    GITHUB = "github"
    GITLAB = "gitlab"


_TARGETS: Final = {CiKind.GITHUB: ".github/workflows/gpukit.yml", CiKind.GITLAB: ".gitlab-ci.yml"}


def render_ci(kind: CiKind, *, stacks: tuple[str, ...], gates: str = DEFAULT_GATES) -> dict[str, bytes]:
    """Return the CI files of a project with these stacks; the gates are those of `gpukit report --fail-on`."""
    source = shipped_folder() / "_ci" / f"{kind.value}.yml.j2"
    if not source.is_file():
        raise TemplateError(f"the CI template for {kind.value} is not installed")
    text = source.read_text(encoding="utf-8")
    values = {"stacks": sorted(stacks), "gates": gates}
    return {_TARGETS[kind]: render_shipped_text(text, values, where=source.name).encode()}
