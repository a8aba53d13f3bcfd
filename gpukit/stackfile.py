"""
Read what a user names (a file, a stack, a preset) into one merged mapping with the place of every key.

A file is either a cluster file (the sections at the top, with `preset` and `region` beside them) or a Pulumi stack file
(`config:` with `gpukit:preset`, `gpukit:cluster` and `aws:region`).
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gpukit.finding import Finding, Position, Severity
from gpukit.nearest import nearest
from gpukit.spec.document import Document, KeyPath, parse_document, show_path
from gpukit.spec.merge import merge_mappings, set_by_path
from gpukit.spec.presets import load_preset, preset_names

_CONFIG_KEYS = ("gpukit:cluster", "gpukit:preset", "aws:region")


@dataclass(frozen=True, slots=True, kw_only=True)
class StackInput:
    """A merged mapping, and where each of its keys was written."""

    mapping: Any
    preset: str | None
    region: str | None
    file: str | None
    folder: Path | None = None
    """Where files that the stack names (boot hooks) are looked for."""
    positions: dict[str, Position] = field(default_factory=dict)
    """Shown key path -> place."""
    findings: tuple[Finding, ...] = ()

    def locate(self, path: str) -> Position | None:
        """Return where a key path, or its nearest written parent, stands."""
        while path:
            if path in self.positions:
                return self.positions[path]
            cut = max(path.rfind("."), path.rfind("["))
            path = path[:cut] if cut > 0 else ""
        return self.positions.get("")


def read_file(file: Path, *, preset: str | None = None, sets: tuple[str, ...] = ()) -> StackInput:
    """Return the input of a cluster file or a Pulumi stack file; an unreadable file is a finding GK1001."""
    try:
        text = file.read_bytes()[: 2 * 1_048_576].decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else "it is not UTF-8 text"
        return StackInput(
            mapping=None, preset=preset, region=None, file=str(file), findings=(_cannot_read(str(file), why),)
        )
    return read_text(text, file=str(file), folder=file.parent, preset=preset, sets=sets)


def read_text(
    text: str, *, file: str, folder: Path | None = None, preset: str | None = None, sets: tuple[str, ...] = ()
) -> StackInput:
    """Return the input of a text, as `read_file` does."""
    document = parse_document(text, file=file)
    if document.findings and document.value is None:
        return StackInput(mapping=None, preset=preset, region=None, file=file, findings=document.findings)
    value = document.value
    if isinstance(value, dict) and _is_stack_file(value):
        config = value["config"] if isinstance(value.get("config"), dict) else {}
        own = _as_mapping(config.get("gpukit:cluster", {}))
        return _merge(
            own={} if own is None else own,
            prefix=("config", "gpukit:cluster"),
            preset=preset or config.get("gpukit:preset"),
            region=config.get("aws:region"),
            document=document,
            folder=folder,
            sets=sets,
            preset_path=("config", "gpukit:preset"),
        )
    named, region = preset, None
    if isinstance(value, dict):
        named = preset or value.get("preset")
        region = value.get("region")
        value = {key: item for key, item in value.items() if key != "preset"}
    return _merge(
        own=value,
        prefix=(),
        preset=named,
        region=region,
        document=document,
        folder=folder,
        sets=sets,
        preset_path=("preset",),
    )


def read_mapping(
    mapping: Any,
    *,
    preset: str | None,
    region: str | None,
    document: Document | None = None,
    folder: Path | None = None,
) -> StackInput:
    """Return the input of a mapping that is parsed already (Pulumi config), placed by its stack file if given."""
    return _merge(
        own={} if mapping is None else mapping,
        prefix=("config", "gpukit:cluster"),
        preset=preset,
        region=region,
        document=document or Document(file="", value=None),
        folder=folder,
        sets=(),
        preset_path=("config", "gpukit:preset"),
    )


def read_preset(preset: str, *, sets: tuple[str, ...] = (), region: str | None = None) -> StackInput:
    """Return the input of a preset alone."""
    return _merge(
        own={},
        prefix=(),
        preset=preset,
        region=region,
        document=Document(file="", value=None),
        folder=None,
        sets=sets,
        preset_path=("preset",),
    )


def parse_set(text: str) -> tuple[list[str], Any]:
    """Return key path and value of `pools.train.nodes=64`; ValueError where it has no such form."""
    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise ValueError(f"`{text}` is not of the form KEY.KEY=VALUE")
    document = parse_document(value, file="--set")
    if document.findings:
        raise ValueError(f"`{text}`: {document.findings[0].problem}")
    return [part.strip() for part in path.split(".")], document.value


def _as_mapping(value: Any) -> Any:
    """Return the mapping that a text holds: Pulumi keeps objects set by `--json` or by hand as JSON text."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    parsed = parse_document(value, file="gpukit:cluster")
    return value if parsed.findings else parsed.value


def _is_stack_file(value: dict[str, Any]) -> bool:
    return "config" in value or "encryptionsalt" in value or "secretsprovider" in value


def _merge(
    *,
    own: Any,
    prefix: KeyPath,
    preset: Any,
    region: Any,
    document: Document,
    folder: Path | None,
    sets: tuple[str, ...],
    preset_path: KeyPath,
) -> StackInput:
    findings = list(document.findings)
    positions: dict[str, Position] = {}
    base: dict[str, Any] = {}
    own_presets = folder / "presets" if folder is not None and (folder / "presets").is_dir() else None
    if preset is not None:
        loaded = load_preset(str(preset), own_presets)
        if loaded is None or not isinstance(loaded.value, dict):
            findings.append(_unknown_preset(str(preset), preset_names(own_presets), document.position(preset_path)))
        else:
            base = loaded.value
            positions = {show_path(path): place for path, place in loaded.positions.items()}
            findings.extend(loaded.findings)
    for path, place in document.positions.items():
        if path[: len(prefix)] == prefix:
            positions[show_path(path[len(prefix) :])] = place
    mapping: Any = merge_mappings(base, own) if isinstance(own, dict) else own
    for text in sets:
        path_parts, value = parse_set(text)
        if isinstance(mapping, dict):
            mapping = set_by_path(mapping, path_parts, value)
    findings.extend(_check_config(document, own, region))
    if isinstance(mapping, dict) and isinstance(region, str):
        mapping = {**mapping, "region": region}
        placed = document.positions.get(("config", "aws:region"))
        if placed is not None:
            positions["region"] = placed
    found_region = mapping.get("region") if isinstance(mapping, dict) else None
    return StackInput(
        mapping=mapping,
        preset=str(preset) if preset is not None else None,
        region=found_region if isinstance(found_region, str) else None,
        file=document.file or None,
        folder=folder,
        positions=positions,
        findings=tuple(findings),
    )


def _check_config(document: Document, own: Any, region: Any) -> list[Finding]:
    """Return a finding for each config key that is gpukit's and unknown, or meant to be known and misspelt."""
    config = document.value.get("config") if isinstance(document.value, dict) else None
    if not isinstance(config, dict) or not _is_stack_file(document.value):
        return []
    findings: list[Finding] = []
    for key in config:
        close = key not in _CONFIG_KEYS and bool(nearest(key, _CONFIG_KEYS, count=1, cutoff=0.8))
        if key in _CONFIG_KEYS or not (key.startswith("gpukit:") or close):
            continue
        near = nearest(key, _CONFIG_KEYS, count=1)
        findings.append(
            Finding(
                code="GK1002",
                severity=Severity.ERROR,
                path=key,
                problem=f"the config key `{key[:80]}` is not known",
                why="nothing reads it: what stands under it would be lost in silence",
                fix=f"did you mean `{near[0]}`?" if near else f"gpukit reads {', '.join(_CONFIG_KEYS)}",
                position=document.position(("config", key)),
            )
        )
    if region is not None and not isinstance(region, str):
        findings.append(
            Finding(
                code="GK1003",
                severity=Severity.ERROR,
                path="aws:region",
                problem=f"`{str(region)[:40]}` is not the name of a region",
                why="zones, types and prices differ by region",
                fix="write a region such as us-east-1",
                position=document.position(("config", "aws:region")),
            )
        )
    inner = own.get("region") if isinstance(own, dict) else None
    if inner is not None and isinstance(region, str) and inner != region:
        findings.append(
            Finding(
                code="GK1003",
                severity=Severity.ERROR,
                path="region",
                problem=f"`{str(inner)[:40]}` is not the stack's `aws:region`, which is `{region[:40]}`",
                why="one stack lives in one region, and the AWS provider takes `aws:region`",
                fix="remove `region` from `gpukit:cluster`, or make the two equal",
                position=document.position(("config", "gpukit:cluster", "region")),
            )
        )
    return findings


def _cannot_read(file: str, why: str) -> Finding:
    return Finding(
        code="GK1001",
        severity=Severity.ERROR,
        path="",
        problem=f"cannot read `{file}`: {why}",
        why="nothing can be planned from a file that cannot be read",
        fix="name a file that exists and is UTF-8 text",
        position=Position(file=file, line=1, column=1),
    )


def _unknown_preset(name: str, names: tuple[str, ...], place: Position | None) -> Finding:
    near = nearest(name, names)
    return Finding(
        code="GK1006",
        severity=Severity.ERROR,
        path="preset",
        problem=f"the preset `{name[:80]}` does not exist",
        why=f"there are: {', '.join(names)}",
        fix=f"did you mean `{near[0]}`?" if near else "use one of these names",
        position=place,
    )
