"""
Keep the sandbox's encryption salt out of stack files: `pulumi` writes one into each file that has none.

The state of a stack holds what decrypts it, so a salt that is taken away again costs nothing. One that a secret in the
file was encrypted with stays: without it the secret could not be read any more.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

SALT_LINE: Final = re.compile(rb"^encryptionsalt:.*(?:\r?\n|\Z)", re.MULTILINE)
_SECRET: Final = re.compile(rb"^\s*(?:-\s*)?(?:\S+:\s*\{\s*)?secure:", re.MULTILINE)


def find_stack_files(argv: Sequence[str], cwd: Path | None) -> list[Path]:
    """Return the stack files of the project that a command works in: of `cwd`, or of pulumi's own `--cwd`."""
    from gpukit.cli.inputs import find_project

    start = cwd or Path.cwd()
    for word, following in zip(argv, [*argv[1:], ""], strict=True):
        if word in ("-C", "--cwd") and following:
            start = start / following
        elif word.startswith("--cwd="):
            start = start / word.removeprefix("--cwd=")
    project = find_project(start)
    return sorted(project.stack_folder.glob("Pulumi.*.yaml")) if project is not None else []


def read_unsalted(files: Sequence[Path]) -> dict[Path, bytes]:
    """Return the content of the files that have no salt."""
    found = {}
    for file in files:
        try:
            content = file.read_bytes()
        except OSError:
            continue
        if not SALT_LINE.search(content):
            found[file] = content
    return found


def take_salt_away(before: dict[Path, bytes], say: Callable[[str], None]) -> None:
    """Take a salt that came since out of each file; where nothing else changed, the file is byte for byte what it was."""
    for file, content in before.items():
        try:
            now = file.read_bytes()
        except OSError:
            continue
        if not SALT_LINE.search(now):
            continue
        if _SECRET.search(now):
            say(f"{file.name} keeps `encryptionsalt`: a secret in it is encrypted with it, for this sandbox alone")
            continue
        bare = SALT_LINE.sub(b"", now)
        file.write_bytes(content if _says_the_same(bare, content) else bare)


def _says_the_same(one: bytes, other: bytes) -> bool:
    import yaml

    try:
        return bool((yaml.safe_load(one) or {}) == (yaml.safe_load(other) or {}))
    except yaml.YAMLError:
        return False
