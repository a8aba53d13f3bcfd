"""Read the allow list and the organisation's limits from the base revision: a change cannot allow itself anything."""

import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gpukit.preview.revision import RevisionError, read_at, repository_of
from gpukit.report.allow_list import (
    ALLOW_LIST_PATH,
    CODEOWNERS_PATHS,
    AllowList,
    owners_of,
    parse_allow_list,
    valid_entries,
)

if TYPE_CHECKING:
    from gpukit.report.stack_numbers import StackNumbers


def load_allow_list(
    folder: Path, *, base: str | None, stack: str, today: datetime.date, path: str = ALLOW_LIST_PATH
) -> AllowList:
    """
    Return the entries that hold for a stack on a day, from the base revision.

    Without a base nothing is allowed: the list in the working tree belongs to the change itself.
    """
    if base is None:
        if (folder / path).exists():
            return AllowList(notes=(f"{path} is not read without --base: the change could allow itself",))
        return AllowList()
    try:
        top = repository_of(folder)
        text = read_at(top, base, path)
    except RevisionError as error:
        return AllowList(notes=(f"{path} cannot be read at `{base}` and allows nothing: {error}",))
    if text is None:
        return AllowList()
    codeowners = next((found for name in CODEOWNERS_PATHS if (found := read_at(top, base, name)) is not None), "")
    return valid_entries(
        parse_allow_list(text, where=path), stack=stack, today=today, owners=owners_of(codeowners, path), where=path
    )


def broken_limits(folder: Path, *, base: str | None, known: "StackNumbers") -> tuple[str, ...]:
    """
    Return what a stack's plan breaks of the organisation's limits, in sentences.

    The limits are the tightest of the base revision's and the working tree's: a change can add some at once, and
    cannot take any away. Raises RevisionError where the base cannot be read, TemplateError for a broken file.
    """
    from gpukit.projects.limits import LIMITS_FILE, check_plan_limits, tighten_all
    from gpukit.projects.manifest import parse_limits

    texts = [(file.read_text(encoding="utf-8"), str(file))] if (file := folder / LIMITS_FILE).is_file() else []
    if base is not None:
        top = repository_of(folder)
        path = (folder.resolve() / LIMITS_FILE).relative_to(top.resolve()).as_posix()
        old = read_at(top, base, path)
        texts += [(old, f"{path} at {base}")] if old is not None else []
    limits = tighten_all(parse_limits(text, where=where) for text, where in texts)
    if limits.is_empty:
        return ()
    if known.plan is None:
        return ("the stack makes no plan, so its limits cannot be kept",)
    return check_plan_limits(known.plan, limits, suppressed=known.suppressed)
