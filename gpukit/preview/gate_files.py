"""Read the allow list and its owners from the base revision, so that a change cannot allow itself."""

import datetime
from pathlib import Path

from gpukit.preview.revision import RevisionError, read_at, repository_of
from gpukit.report.allow_list import (
    ALLOW_LIST_PATH,
    CODEOWNERS_PATHS,
    AllowList,
    owners_of,
    parse_allow_list,
    valid_entries,
)


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
