"""
Talk to GitHub and GitLab: list, create, update and delete the comments of one pull or merge request.

The only module of the core that opens a connection; nothing imports it but `gpukit report post`. It follows no
redirect, because a redirect would carry the token to another host, and no error text repeats the token.
"""

import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPMessage
from typing import IO, Any, Final, Protocol

PAGE_SIZE: Final = 100
"""The largest page of both APIs. Source: GitHub and GitLab REST docs on pagination, 2026-08."""
MAX_PAGES: Final = 100
TIMEOUT_SECONDS: Final = 30
ATTEMPTS: Final = 4
MAX_WAIT_SECONDS: Final = 60
GITHUB_ACTIONS_LOGIN: Final = "github-actions[bot]"
"""Who writes with a workflow's own token, which may not ask `GET /user`. Source: GitHub docs, GITHUB_TOKEN, 2026-08."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment on the request; `is_mine` tells whether this token wrote it."""

    id: int
    body: str
    is_mine: bool


class CodeHostError(Exception):
    """The code host refused or did not answer; for people, without the token."""


class CodeHost(Protocol):
    """Comments of one pull or merge request."""

    def comments(self) -> Iterator[Comment]:
        """Return all comments, oldest first."""

    def create(self, body: str) -> int:
        """Write a new comment and return its id."""

    def update(self, comment_id: int, body: str) -> None:
        """Replace the text of a comment."""

    def delete(self, comment_id: int) -> None:
        """Remove a comment; one that is gone already is fine."""


@dataclass(slots=True, kw_only=True)
class _Api:
    base: str
    headers: dict[str, str]
    sleep: Callable[[float], None] = time.sleep

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> tuple[Any, HTTPMessage]:
        """Return the decoded answer and its headers; waits and retries where the host asks for it."""
        url = self.base.rstrip("/") + path
        if not url.startswith(("https://", "http://127.0.0.1", "http://localhost")):
            raise CodeHostError(f"{self.base} is not an https address; the token is not sent there")
        for attempt in range(ATTEMPTS):
            request = urllib.request.Request(
                url,
                method=method,
                data=None if body is None else json.dumps(body).encode(),
                headers={"Content-Type": "application/json", "User-Agent": "gpukit", **self.headers},
            )
            try:
                with _OPENER.open(request, timeout=TIMEOUT_SECONDS) as answer:
                    text = answer.read()
                    return (json.loads(text) if text else None), answer.headers
            except urllib.error.HTTPError as error:
                wait = _wait_seconds(error, attempt)
                # Writing twice makes two comments: only refusals that come before any work are tried again.
                safe = method in ("GET", "DELETE", "PUT", "PATCH") or error.code in (403, 429)
                if wait is None or not safe or attempt == ATTEMPTS - 1:
                    raise CodeHostError(_explain(method, path, error)) from None
                self.sleep(wait)
            except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
                if method == "POST" or attempt == ATTEMPTS - 1:
                    reason = getattr(error, "reason", error)
                    raise CodeHostError(f"{method} {path}: {self.base} did not answer: {reason}") from None
                self.sleep(2.0**attempt)
        raise AssertionError("unreachable")

    def pages(self, path: str) -> Iterator[Any]:
        """Return the items of all pages; asks for the next page only by number, never by an address it was given."""
        for page in range(1, MAX_PAGES + 1):
            separator = "&" if "?" in path else "?"
            items, headers = self.call("GET", f"{path}{separator}per_page={PAGE_SIZE}&page={page}")
            if not isinstance(items, list):
                raise CodeHostError(f"GET {path}: the answer is no list of comments")
            yield from items
            if not _has_next(headers, len(items)):
                return
        raise CodeHostError(f"GET {path}: more than {MAX_PAGES * PAGE_SIZE:,} comments; delete some, or post elsewhere")


@dataclass(slots=True, kw_only=True)
class GitHub:
    """A pull request on GitHub, or on a server of one's own by its `api` address."""

    repository: str
    number: int
    token: str = field(repr=False)
    api: str = "https://api.github.com"
    login: str | None = None
    """Whose comments are ours; None asks the host."""
    sleep: Callable[[float], None] = time.sleep

    def __post_init__(self) -> None:
        if not re.fullmatch(r"(?!\.+/)[A-Za-z0-9._-]+/(?!\.+$)[A-Za-z0-9._-]+", self.repository):
            raise CodeHostError(f"`{self.repository}` is no GitHub repository; write OWNER/NAME")

    def comments(self) -> Iterator[Comment]:
        """Return all comments of the pull request."""
        login = self.login = self.login or self._who_am_i()
        for item in self._api().pages(f"/repos/{self.repository}/issues/{self.number}/comments"):
            user = item.get("user") or {}
            yield Comment(id=int(item["id"]), body=item.get("body") or "", is_mine=user.get("login") == login)

    def create(self, body: str) -> int:
        """Write a new comment and return its id."""
        answer, _ = self._api().call("POST", f"/repos/{self.repository}/issues/{self.number}/comments", {"body": body})
        return int(answer["id"])

    def update(self, comment_id: int, body: str) -> None:
        """Replace the text of a comment."""
        self._api().call("PATCH", f"/repos/{self.repository}/issues/comments/{comment_id}", {"body": body})

    def delete(self, comment_id: int) -> None:
        """Remove a comment."""
        _delete(self._api(), f"/repos/{self.repository}/issues/comments/{comment_id}")

    def _who_am_i(self) -> str:
        try:
            answer, _ = self._api().call("GET", "/user")
        except CodeHostError as error:
            if " 403" in str(error) or " 404" in str(error):
                return GITHUB_ACTIONS_LOGIN
            raise
        return str(answer["login"])

    def _api(self) -> _Api:
        return _Api(
            base=self.api,
            headers={
                "Authorization": f"Bearer {self.token}",
                "Accept": "application/vnd.github+json",
                "X-GitHub-Api-Version": "2022-11-28",
            },
            sleep=self.sleep,
        )


@dataclass(slots=True, kw_only=True)
class GitLab:
    """A merge request on GitLab; `project` is its number or its path."""

    project: str
    number: int
    token: str = field(repr=False)
    api: str = "https://gitlab.com/api/v4"
    user_id: int | None = None
    sleep: Callable[[float], None] = time.sleep

    def comments(self) -> Iterator[Comment]:
        """Return all notes of the merge request that people or tokens wrote."""
        if self.user_id is None:
            answer, _ = self._api().call("GET", "/user")
            self.user_id = int(answer["id"])
        for item in self._api().pages(f"{self._notes()}?sort=asc&order_by=created_at"):
            if item.get("system"):
                continue
            author = item.get("author") or {}
            yield Comment(id=int(item["id"]), body=item.get("body") or "", is_mine=author.get("id") == self.user_id)

    def create(self, body: str) -> int:
        """Write a new note and return its id."""
        answer, _ = self._api().call("POST", self._notes(), {"body": body})
        return int(answer["id"])

    def update(self, comment_id: int, body: str) -> None:
        """Replace the text of a note."""
        self._api().call("PUT", f"{self._notes()}/{comment_id}", {"body": body})

    def delete(self, comment_id: int) -> None:
        """Remove a note."""
        _delete(self._api(), f"{self._notes()}/{comment_id}")

    def _notes(self) -> str:
        return f"/projects/{urllib.parse.quote(str(self.project), safe='')}/merge_requests/{self.number}/notes"

    def _api(self) -> _Api:
        return _Api(base=self.api, headers={"PRIVATE-TOKEN": self.token}, sleep=self.sleep)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> urllib.request.Request | None:
        return None


_OPENER: Final = urllib.request.build_opener(_NoRedirect)


def _delete(api: _Api, path: str) -> None:
    try:
        api.call("DELETE", path)
    except CodeHostError as error:
        if " 404" not in str(error):
            raise


def _has_next(headers: HTTPMessage, count: int) -> bool:
    if "x-next-page" in headers:
        return bool(headers["x-next-page"].strip())
    if "link" in headers:
        return 'rel="next"' in headers["link"]
    return count == PAGE_SIZE


def _wait_seconds(error: urllib.error.HTTPError, attempt: int) -> float | None:
    """Return how long to wait before trying again, or None where trying again cannot help."""
    after = error.headers.get("retry-after", "") if error.headers else ""
    if after.isdigit() and error.code in (403, 429, 500, 502, 503, 504):
        return float(min(int(after), MAX_WAIT_SECONDS))
    if error.code in (429, 500, 502, 503, 504):
        return 2.0**attempt
    return None


def _explain(method: str, path: str, error: urllib.error.HTTPError) -> str:
    try:
        answer = json.loads(error.read() or b"{}")
        said = str(answer.get("message") or answer.get("error") or "") if isinstance(answer, dict) else ""
    except (ValueError, OSError):
        said = ""
    fix = {
        401: "the token is not valid",
        403: "the token may not write comments (GitHub: `pull-requests: write`; GitLab: scope `api`)",
        404: "no such repository or request, or the token may not see it",
        422: "the host refused the text",
    }.get(error.code, "")
    return f"{method} {path}: {error.code} {said}".rstrip() + (f"; {fix}" if fix else "")
