"""The offline preview of one stack: record the working tree and the base side by side, then compare."""

import json
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gpukit.preview.compare import compare_recordings
from gpukit.preview.project import (
    Project,
    ProjectError,
    StackConfig,
    load_project,
    load_stack_config,
    parse_stack_config,
)
from gpukit.preview.record import RecordRequest, record_all
from gpukit.preview.recording import Recording
from gpukit.preview.revision import export, read_at, repository_of
from gpukit.report.change import Change

OWN_PROJECT = "gpukit"
"""Project name of a cluster file or preset that belongs to no Pulumi project."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflinePreview:
    """The change, and the recording of the working tree for later comparisons."""

    change: Change
    head: Recording


def preview_project(project: Project, stack: str, *, base_ref: str | None, base: Recording | None) -> OfflinePreview:
    """Return the preview of a stack of a project against a git revision, a recording, or nothing."""
    head = _project_request(project, stack, load_stack_config(project.stack_file(stack), project.name))
    if base_ref is None:
        return _compare([head], base)
    with tempfile.TemporaryDirectory(prefix="gpukit-base-") as folder:
        top = repository_of(project.root)
        export(top, base_ref, Path(folder))
        old = _base_request(project, stack, top, Path(folder))
        return _compare([head, old] if old else [head], base)


def preview_file(file: Path, *, preset: str | None, base_ref: str | None, base: Recording | None) -> OfflinePreview:
    """Return the preview of a cluster file or a stack file outside a project."""
    head = _file_request(_load_mapping(file.read_text(encoding="utf-8"), str(file)), file.stem, preset)
    if base_ref is None:
        return _compare([head], base)
    top = repository_of(file.resolve().parent)
    text = read_at(top, base_ref, file.resolve().relative_to(top).as_posix())
    old = _file_request(_load_mapping(text, f"{file} at {base_ref}"), file.stem, preset) if text is not None else None
    return _compare([head, old] if old else [head], base)


def preview_preset(preset: str, *, base: Recording | None) -> OfflinePreview:
    """Return the preview of a preset as it is shipped."""
    request = RecordRequest(project=OWN_PROJECT, stack=preset, config={"gpukit:preset": preset})
    return _compare([request], base)


def _compare(requests: list[RecordRequest], base: Recording | None) -> OfflinePreview:
    recordings = record_all(requests)
    if len(recordings) > 1:
        base = recordings[1]
    if base is not None and (base.project, base.stack) != (recordings[0].project, recordings[0].stack):
        base = _renamed(base, recordings[0])
    return OfflinePreview(change=compare_recordings(base, recordings[0]), head=recordings[0])


def _renamed(base: Recording, head: Recording) -> Recording:
    """Return a base with the URNs of the head's stack: another stack's recording compares by the rest of the name."""
    old, new = (f"urn:pulumi:{one.stack}::{one.project}::" for one in (base, head))
    resources = tuple(
        replace(
            one,
            urn=one.urn.replace(old, new, 1),
            parent=one.parent.replace(old, new, 1),
            dependencies={
                name: tuple(urn.replace(old, new, 1) for urn in urns) for name, urns in one.dependencies.items()
            },
        )
        for one in base.resources
    )
    return replace(base, stack=head.stack, project=head.project, resources=resources)


def _project_request(project: Project, stack: str, config: StackConfig) -> RecordRequest:
    python = project.virtualenv / "bin" / "python" if project.virtualenv else None
    return RecordRequest(
        project=project.name,
        stack=stack,
        config=config.values,
        secret_keys=config.secret_keys,
        program=project.program,
        root=project.root,
        python=python if python is not None and python.exists() else None,
    )


def _base_request(project: Project, stack: str, top: Path, tree: Path) -> RecordRequest | None:
    """Return the request of the base's tree; None where the base has no such project or stack."""
    try:
        old = load_project(tree / project.root.relative_to(top))
        config = load_stack_config(old.stack_file(stack), old.name)
    except ProjectError:
        return None
    request = _project_request(old, stack, config)
    # gpukit's own repository: the base decides with its own code and presets, not with today's.
    own = (tree / "components", tree) if (tree / "components" / "gpukit_components").is_dir() else ()
    interpreter = _project_request(project, stack, config).python
    return replace(request, python=request.python or interpreter, source_roots=own)


def _file_request(mapping: dict[str, Any], stack: str, preset: str | None) -> RecordRequest:
    if "config" in mapping:
        config = parse_stack_config(mapping, OWN_PROJECT, where="the stack file")
        values, secrets = dict(config.values), config.secret_keys
    else:
        own = {key: value for key, value in mapping.items() if key not in ("preset", "region")}
        values, secrets = {"gpukit:cluster": json.dumps(own, default=str)}, ()
        if mapping.get("preset"):
            values["gpukit:preset"] = str(mapping["preset"])
        if mapping.get("region"):
            values["aws:region"] = str(mapping["region"])
    if preset:
        values["gpukit:preset"] = preset
    return RecordRequest(project=OWN_PROJECT, stack=stack.removeprefix("Pulumi."), config=values, secret_keys=secrets)


def _load_mapping(text: str, where: str) -> dict[str, Any]:
    import yaml

    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ProjectError(f"{where} is not YAML: {str(error).splitlines()[0]}") from error
    if not isinstance(document, dict):
        raise ProjectError(f"{where} is no mapping")
    return document
