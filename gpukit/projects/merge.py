"""
Bring a project to a newer rendering of its template: a three-way merge for each file, nothing lost.

Base is what the template gave last time, ours is what stands in the project, theirs is what the template gives now.
Where both changed the same lines, both stay, between conflict marks.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from gpukit.projects.manifest import TemplateError

BESIDE: Final = ".from-template"
"""Suffix of a file that is put beside the project's own, where merging lines makes no sense."""


class MergeOutcome(StrEnum):
    """What happened to one file."""

    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"
    MERGED = "merged"
    CONFLICT = "conflict"
    KEPT = "kept"


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedFile:
    """One file after the merge; `content` None removes it."""

    path: str
    outcome: MergeOutcome
    content: bytes | None
    says: str = ""


def merge_files(base: Mapping[str, str], theirs: Mapping[str, bytes], folder: Path) -> list[MergedFile]:
    """Return what becomes of every file that the template gave or gives; files of the project alone are not touched."""
    merged: list[MergedFile] = []
    for path in sorted(base.keys() | theirs.keys()):
        ours = _read(folder / path)
        old = base[path].encode() if path in base else None
        result = _merge_one(path, old, ours, theirs.get(path))
        if result is not None:
            merged.append(result)
    return merged


def _merge_one(path: str, base: bytes | None, ours: bytes | None, theirs: bytes | None) -> MergedFile | None:
    if ours == theirs or theirs == base:
        # The same already, or the template did not change it: the project's own version stays.
        return None
    if theirs is None:
        if ours is None:
            return None
        if ours == base:
            return MergedFile(path=path, outcome=MergeOutcome.REMOVED, content=None)
        return MergedFile(
            path=path, outcome=MergeOutcome.KEPT, content=ours,
            says="the template dropped it, and you changed it: it stays",
        )  # fmt: skip
    if ours is None:
        if base is None:
            return MergedFile(path=path, outcome=MergeOutcome.ADDED, content=theirs)
        return MergedFile(
            path=path + BESIDE, outcome=MergeOutcome.CONFLICT, content=theirs,
            says=f"you removed {path}, and the template changed it: its version is here",
        )  # fmt: skip
    if ours == base:
        return MergedFile(path=path, outcome=MergeOutcome.UPDATED, content=theirs)
    if b"\0" in ours or b"\0" in theirs:
        return MergedFile(
            path=path + BESIDE, outcome=MergeOutcome.CONFLICT, content=theirs,
            says=f"{path} is no text and both changed it: the template's version is here",
        )  # fmt: skip
    content, conflicts = _merge_lines(ours, base or b"", theirs)
    if conflicts:
        return MergedFile(
            path=path, outcome=MergeOutcome.CONFLICT, content=content,
            says=f"{conflicts} {'place' if conflicts == 1 else 'places'} between <<<<<<< and >>>>>>> to decide",
        )  # fmt: skip
    return MergedFile(path=path, outcome=MergeOutcome.MERGED, content=content)


def _merge_lines(ours: bytes, base: bytes, theirs: bytes) -> tuple[bytes, int]:
    """Return the merged text and the number of conflicts, by `git merge-file`."""
    with TemporaryDirectory(prefix="gpukit-merge-") as folder:
        names = []
        for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
            file = Path(folder) / name
            file.write_bytes(content)
            names.append(str(file))
        labels = ["-L", "your project", "-L", "the template before", "-L", "the template now"]
        try:
            done = subprocess.run(
                ["git", "merge-file", "-p", "--diff3", *labels, *names], capture_output=True, check=False, timeout=60
            )
        except FileNotFoundError as error:
            raise TemplateError("git is not on PATH; the update merges with it") from error
    # 0 clean, 1-127 the number of conflicts, 128 and more an error. Source: git-merge-file manual.
    if done.returncode >= 128:
        raise TemplateError(f"git merge-file: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout, done.returncode


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
