"""
Read files as they stand in another git revision.

Calls the `git` on PATH and nothing else; a border of the core, imported only where a command asks for another revision.
"""

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Final

_TIMEOUT_SECONDS: Final = 60


class RevisionError(Exception):
    """There is no such revision, or no repository here; for people."""


class GitMissing(RevisionError):
    """There is no git to ask, or it does not answer."""


def repository_of(folder: Path) -> Path:
    """Return the top folder of the repository that holds a folder; RevisionError where there is none."""
    try:
        return Path(_git(folder, "rev-parse", "--show-toplevel").decode().strip())
    except GitMissing:
        raise
    except RevisionError as error:
        raise _no_repository(folder, error) from error


def resolve(folder: Path, ref: str) -> str:
    """Return the commit a ref names."""
    if ref.startswith("-") or not ref.strip():
        raise RevisionError(f"`{ref}` is no git revision")
    try:
        return _git(folder, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}").decode().strip()
    except GitMissing:
        raise
    except RevisionError as error:
        repository_of(folder)
        raise RevisionError(
            f"git knows no revision `{ref}` here; fetch it first (in CI: fetch-depth 0), or name another"
        ) from error


def read_at(folder: Path, ref: str, path: str) -> str | None:
    """Return a file's text at a revision, by its path from the repository's top; None where it is not there."""
    commit = resolve(folder, ref)
    try:
        return _git(folder, "show", f"{commit}:{path}").decode("utf-8", errors="replace")
    except RevisionError:
        return None


def export(folder: Path, ref: str, target: Path) -> str:
    """Write the whole tree of a revision below `target` and return the commit; the checkout is not touched."""
    commit = resolve(folder, ref)
    archive = _git(repository_of(folder), "archive", "--format=tar", commit)
    target.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        members.extractall(target, filter=_no_way_out)
    return commit


def _no_way_out(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
    """Return what may be written below the folder; a link that leads out of it is left away, a program needs none."""
    try:
        return tarfile.data_filter(member, path)
    except (tarfile.AbsoluteLinkError, tarfile.LinkOutsideDestinationError):
        return None


def _no_repository(folder: Path, error: RevisionError) -> RevisionError:
    """Return what git's refusal means for people; git's own words where it is not the plain case."""
    where = folder.resolve()
    if "not a git repository" not in str(error):
        return RevisionError(f"git cannot read the repository of {where}: {error}")
    return RevisionError(
        f"{where} lies in no git repository, so there is no other revision to compare with\n"
        f"  why:  the base is read from git's history\n"
        f"  fix:  leave the base out to see all that the stack makes; or put the folder under git on the base first: "
        f"git init -b main && git add . && git commit -m base"
    )


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, timeout=_TIMEOUT_SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise GitMissing("git is not on PATH; install it, or leave the base out") from error
    except subprocess.TimeoutExpired as error:
        raise GitMissing(f"git {arguments[0]} took more than {_TIMEOUT_SECONDS} s") from error
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise RevisionError(f"git {arguments[0]}: {said[-1] if said else 'it failed'}")
    return done.stdout
