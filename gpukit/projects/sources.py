"""
Find a template: shipped with gpukit, in a folder, or in a git repository.

A template of somebody else is data: its Jinja2 runs in a sandbox, its links are not followed, none of its programs run.
"""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from gpukit.nearest import nearest
from gpukit.projects.limits import OrgLimits, tighten
from gpukit.projects.manifest import MANIFEST_FILE, Manifest, Question, TemplateError, parse_manifest

_SHIPPED: Final = Path(__file__).parent.parent / "_shipped" / "templates"
_IN_REPOSITORY: Final = Path(__file__).parent.parent.parent / "templates"
_LEFT_OUT: Final = frozenset({".git", ".venv", "__pycache__", "node_modules", MANIFEST_FILE})
_MAX_FILES: Final = 2_000
_MAX_FILE_BYTES: Final = 2 * 1024 * 1024
_CLONE_SECONDS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A template that was read. `files` maps paths to bytes; `origin` is what a project records to find it again."""

    name: str
    version: str
    description: str
    origin: str
    ref: str
    commit: str
    is_shipped: bool
    questions: tuple[Question, ...]
    limits: OrgLimits
    notes: tuple[str, ...]
    files: dict[str, bytes]
    executable: frozenset[str] = frozenset()


def shipped_folder() -> Path:
    """Return where the shipped templates lie: in the wheel, or in the repository."""
    return _SHIPPED if _SHIPPED.is_dir() else _IN_REPOSITORY


def shipped_names() -> tuple[str, ...]:
    """Return the names of the shipped templates."""
    return tuple(sorted(path.parent.name for path in shipped_folder().glob("*/Pulumi.yaml")))


def load_shipped(name: str) -> Template:
    """Return a shipped template; raises TemplateError with the nearest name."""
    names = shipped_names()
    if name not in names:
        near = nearest(name, names)
        hint = f"did you mean `{near[0]}`? " if near else ""
        raise TemplateError(f"there is no template `{name}`; {hint}there are: {', '.join(names)}")
    from gpukit import __version__

    files, executable = _read_files(shipped_folder() / name, [])
    return Template(
        name=name,
        version=__version__,
        description=_pulumi_description(files),
        origin=f"shipped:{name}",
        ref="",
        commit="",
        is_shipped=True,
        questions=(),
        limits=OrgLimits(),
        notes=(),
        files=files,
        executable=executable,
    )


@contextmanager
def open_template(origin: str, *, ref: str = "", base: Path | None = None) -> Iterator[Template]:
    """Yield the template of a folder, an address of a git repository, or `shipped:NAME`; raises TemplateError."""
    if origin.startswith("shipped:"):
        yield load_shipped(origin.removeprefix("shipped:"))
        return
    folder = (base or Path.cwd()) / os.path.expanduser(origin)
    if folder.is_dir() and not ref:
        yield _load_folder(folder, origin=str(folder.resolve()), ref="", commit="", depth=0)
        return
    if not folder.is_dir() and not re.match(r"^(https://|ssh://|git@|file://)", origin):
        raise TemplateError(f"`{origin}` is neither a folder nor an address of a git repository (https, ssh, git@)")
    with TemporaryDirectory(prefix="gpukit-template-") as clone:
        address = str(folder.resolve()) if folder.is_dir() else origin
        commit = _clone(address, ref, Path(clone))
        yield _load_folder(Path(clone), origin=address, ref=ref, commit=commit, depth=0)


def _load_folder(folder: Path, *, origin: str, ref: str, commit: str, depth: int) -> Template:
    file = folder / MANIFEST_FILE
    if not file.is_file():
        raise TemplateError(f"{origin} has no {MANIFEST_FILE}; see docs/templates.md for what belongs into it")
    manifest = parse_manifest(file.read_text(encoding="utf-8"), where=f"{origin}/{MANIFEST_FILE}")
    files, executable = _read_files(folder, manifest.exclude)
    limits, questions = manifest.limits.to_limits(), list(manifest.questions)
    notes: tuple[str, ...] = ()
    if manifest.extends:
        limits, questions, notes = _extend(manifest, folder, depth)
    return Template(
        name=manifest.name,
        version=manifest.version,
        description=manifest.description,
        origin=origin,
        ref=ref,
        commit=commit,
        is_shipped=False,
        questions=tuple(questions),
        limits=limits,
        notes=notes,
        files=files,
        executable=executable,
    )


def _extend(manifest: Manifest, folder: Path, depth: int) -> tuple[OrgLimits, list[Question], tuple[str, ...]]:
    """Put the limits and questions of the template above before the manifest's own; its files are not taken."""
    from gpukit.projects.limits import loosened

    if depth >= 5:
        raise TemplateError(f"{folder}: more than five templates extend one another; is one above itself?")
    assert manifest.extends is not None
    above = folder / manifest.extends
    if above.is_dir():
        parent = _load_folder(above, origin=str(above), ref="", commit="", depth=depth + 1)
    else:
        with open_template(manifest.extends, base=folder) as opened:
            parent = opened
    own = manifest.limits.to_limits()
    named = {question.name for question in manifest.questions}
    questions = [question for question in parent.questions if question.name not in named]
    return (
        tighten(parent.limits, own),
        [*questions, *manifest.questions],
        (*parent.notes, *loosened(parent.limits, own)),
    )


def _read_files(folder: Path, exclude: list[str]) -> tuple[dict[str, bytes], frozenset[str]]:
    files: dict[str, bytes] = {}
    executable: set[str] = set()
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        name = relative.as_posix()
        if set(relative.parts) & _LEFT_OUT or any(fnmatchcase(name, pattern) for pattern in exclude):
            continue
        if path.is_symlink():
            raise TemplateError(f"{name} is a link; a template holds files only")
        if not path.is_file():
            continue
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise TemplateError(f"{name} is larger than {_MAX_FILE_BYTES // 1024 // 1024} MiB; that is no template")
        files[name] = path.read_bytes()
        if os.access(path, os.X_OK):
            executable.add(name)
        if len(files) > _MAX_FILES:
            raise TemplateError(f"{folder} has more than {_MAX_FILES:,} files; that is no template")
    return files, frozenset(executable)


def _clone(address: str, ref: str, target: Path) -> str:
    if ref.startswith("-") or address.startswith("-"):
        raise TemplateError(f"`{ref or address}` is no revision or address")
    # Only transports that fetch; `ext::` would run a command.
    environment = {**os.environ, "GIT_ALLOW_PROTOCOL": "https:ssh:file", "GIT_TERMINAL_PROMPT": "0"}
    _git(["clone", "--quiet", "--no-recurse-submodules", "--", address, str(target)], environment)
    if ref:
        _git(["-C", str(target), "checkout", "--quiet", "--detach", ref], environment)
    return _git(["-C", str(target), "rev-parse", "HEAD"], environment)


def _git(arguments: list[str], environment: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            ["git", *arguments], capture_output=True, text=True, env=environment, timeout=_CLONE_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise TemplateError("git is not on PATH") from error
    except subprocess.TimeoutExpired as error:
        raise TemplateError(f"git {arguments[0]} took more than {_CLONE_SECONDS} s") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise TemplateError(f"git: {said[-1] if said else 'it failed'}")
    return done.stdout.strip()


def _pulumi_description(files: dict[str, bytes]) -> str:
    import yaml

    document = yaml.safe_load(files["Pulumi.yaml"])
    return str(document.get("template", {}).get("description", ""))
