"""
Keep one comment up to date: create it, update its section of one stack, and remove doubles that raced.

Only comments that this token wrote are touched or believed: anybody can write a comment with our marker, and its
"sections" of other stacks would otherwise be carried on as ours.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from gpukit.report.code_hosts import CodeHost, CodeHostError, Comment
from gpukit.report.comment import (
    COMMENT_MARKER,
    build_comment,
    has_section,
    marker_for,
    merge_section,
    section_names,
    sections_in,
)
from gpukit.report.markdown import MAX_COMMENT_CHARS

ROUNDS: Final = 4
"""How often a lost race is repaired before giving up."""


class PostAction(StrEnum):
    """What happened to the comment."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostResult:
    """The comment that now carries the section, and how many doubles were removed."""

    action: PostAction
    comment_id: int
    doubles_removed: int


def post_section(
    host: CodeHost, stack: str, section: str, *, part: str = "", limit: int = MAX_COMMENT_CHARS
) -> PostResult:
    """Return after the request carries one comment of ours with this section; raises CodeHostError for people."""
    marker = marker_for(part)
    action = PostAction.UNCHANGED
    removed = 0
    for _ in range(ROUNDS):
        ours = _ours(host, marker)
        if not ours:
            host.create(build_comment({stack: section}, limit=limit, marker=marker))
            action = PostAction.CREATED
            continue
        keep, *doubles = ours
        if not doubles and _carries(keep.body, stack, section, limit=limit, marker=marker):
            return PostResult(action=action, comment_id=keep.id, doubles_removed=removed)
        body = keep.body
        for double in doubles:
            known = section_names(body)
            for name, text in sections_in(double.body).items():
                if name not in known:
                    body = merge_section(body, name, text, limit=limit, marker=marker)
        host.update(keep.id, merge_section(body, stack, section, limit=limit, marker=marker))
        for double in doubles:
            host.delete(double.id)
            removed += 1
        if action is PostAction.UNCHANGED:
            action = PostAction.UPDATED
    raise CodeHostError(
        f"the comment lost the section of `{stack}` {ROUNDS} times: another job writes it at the same time; "
        "run the jobs that post one after the other"
    )


def _ours(host: CodeHost, marker: str) -> list[Comment]:
    return sorted(
        (comment for comment in host.comments() if comment.is_mine and marker in comment.body), key=lambda c: c.id
    )


def _carries(body: str, stack: str, section: str, *, limit: int, marker: str) -> bool:
    """Tell whether writing again would change nothing; a section may have been shortened to fit beside others."""
    if has_section(body, stack, section):
        return True
    merged = merge_section(body, stack, section, limit=limit, marker=marker)
    return sections_in(merged) == sections_in(body)


__all__ = ["COMMENT_MARKER", "PostAction", "PostResult", "post_section"]
