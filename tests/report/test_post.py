"""One comment, whoever races, however many pages, on both code hosts."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from gpukit.report.code_hosts import CodeHostError, GitHub, GitLab
from gpukit.report.comment import COMMENT_MARKER, build_comment, merge_section, sections_in
from gpukit.report.post import PostAction, post_section

ME, OTHER = 7, 8
TOKEN = "t0ken-of-this-test"


class FakeHost:
    """Both APIs over one list of comments; counts writes, pages by number, can be told to fail."""

    def __init__(self) -> None:
        self.comments: list[dict] = []
        self.writes: list[str] = []
        self.failures: list[tuple[int, dict]] = []
        self.user_is_known = True
        self.after_create = None
        host = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                host.answer(self, "GET")

            def do_POST(self):
                host.answer(self, "POST")

            def do_PATCH(self):
                host.answer(self, "PATCH")

            def do_PUT(self):
                host.answer(self, "PUT")

            def do_DELETE(self):
                host.answer(self, "DELETE")

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def add(self, body: str, author: int = ME) -> dict:
        item = {
            "id": len(self.comments) + 1 + sum(c is None for c in self.comments), "body": body, "system": False,
            "user": {"login": f"user-{author}"}, "author": {"id": author},
        }  # fmt: skip
        item["id"] = max([c["id"] for c in self.comments], default=0) + 1
        self.comments.append(item)
        return item

    def answer(self, request: BaseHTTPRequestHandler, method: str) -> None:
        body = json.loads(request.rfile.read(int(request.headers.get("Content-Length") or 0)) or b"{}")
        if self.failures:
            status, headers = self.failures.pop(0)
            return self.send(
                request, status, {"message": f"failed with {TOKEN}" if status == 599 else "failed"}, headers
            )
        authorized = (
            request.headers.get("Authorization") == f"Bearer {TOKEN}" or request.headers.get("PRIVATE-TOKEN") == TOKEN
        )
        if not authorized:
            return self.send(request, 401, {"message": "Bad credentials"})
        url = urlsplit(request.path)
        gitlab = "/merge_requests/" in url.path
        if url.path.endswith("/user"):
            return (
                self.send(request, 200, {"login": f"user-{ME}", "id": ME})
                if self.user_is_known
                else self.send(request, 403, {})
            )
        if method != "GET":
            self.writes.append(method)
        number = re.search(r"/(?:comments|notes)/(\d+)$", url.path)
        found = next((c for c in self.comments if number and c["id"] == int(number[1])), None)
        if method == "GET":
            query = parse_qs(url.query)
            size, page = int(query["per_page"][0]), int(query["page"][0])
            items = self.comments[(page - 1) * size : page * size]
            more = len(self.comments) > page * size
            headers = (
                {"x-next-page": str(page + 1) if more else ""}
                if gitlab
                else {"Link": f'<{self.url}/evil>; rel="{"next" if more else "prev"}"'}
            )
            return self.send(request, 200, items, headers)
        if method == "POST":
            item = self.add(body["body"])
            if self.after_create:
                self.after_create()
            return self.send(request, 201, item)
        if found is None:
            return self.send(request, 404, {"message": "Not Found"})
        if method == "DELETE":
            self.comments.remove(found)
            return self.send(request, 204, None)
        if (method == "PUT") is not gitlab:
            return self.send(request, 405, {"message": "wrong method"})
        found["body"] = body["body"].replace("\n", "\r\n")
        return self.send(request, 200, found)

    def send(self, request, status, body, headers=None) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        request.send_response(status)
        for name, value in {"Content-Length": str(len(data)), **(headers or {})}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(data)


@pytest.fixture
def fake():
    host = FakeHost()
    yield host
    host.close()


@pytest.fixture(params=["github", "gitlab"])
def host(request, fake):
    waits: list[float] = []
    fake.waits = waits
    if request.param == "github":
        return GitHub(repository="org/repo", number=3, token=TOKEN, api=fake.url, sleep=waits.append)
    return GitLab(project="group/repo", number=3, token=TOKEN, api=fake.url, sleep=waits.append)


def test_the_first_post_creates_and_the_second_updates(host, fake) -> None:
    assert post_section(host, "prod", "**Changes** a\n").action is PostAction.CREATED
    assert post_section(host, "prod", "**No changes** b\n").action is PostAction.UPDATED
    assert post_section(host, "prod", "**No changes** b\n").action is PostAction.UNCHANGED

    assert len(fake.comments) == 1
    assert sections_in(fake.comments[0]["body"]) == {"prod": "**No changes** b"}
    assert fake.writes.count("POST") == 1


def test_sections_of_other_stacks_stay(host, fake) -> None:
    post_section(host, "dev", "**Changes** d\n")
    post_section(host, "prod", "**Danger** p\n")

    assert sections_in(fake.comments[0]["body"]) == {"dev": "**Changes** d", "prod": "**Danger** p"}
    assert fake.comments[0]["body"].startswith("**Danger**, 2 stacks: `prod` danger, `dev` changes")


def test_our_comment_is_found_on_the_third_page(host, fake) -> None:
    for number in range(230):
        fake.add(f"talk {number}", OTHER)
    fake.add(build_comment({"prod": "**Changes** old"}))
    result = post_section(host, "prod", "**Changes** new")

    assert result.action is PostAction.UPDATED
    assert len(fake.comments) == 231


def test_a_comment_by_somebody_else_with_our_marker_is_neither_changed_nor_believed(host, fake) -> None:
    forged = build_comment({"prod": "**No changes** trust me", "other": "**No changes** me too"})
    fake.add(forged, OTHER)
    post_section(host, "prod", "**Danger** real")

    assert fake.comments[0]["body"] == forged
    assert sections_in(fake.comments[1]["body"]) == {"prod": "**Danger** real"}


def test_two_jobs_that_create_at_once_end_in_one_comment_with_both_sections(host, fake) -> None:
    def other_job() -> None:
        fake.after_create = None
        fake.add(build_comment({"dev": "**Changes** from the other job"}))

    fake.after_create = other_job
    result = post_section(host, "prod", "**Changes** mine")

    assert result.doubles_removed == 1
    assert len(fake.comments) == 1
    assert set(sections_in(fake.comments[0]["body"])) == {"dev", "prod"}


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_a_read_that_fails_is_tried_again(host, fake, status: int) -> None:
    fake.failures = [(status, {}), (status, {"Retry-After": "2"})]

    assert post_section(host, "prod", "**Changes** a").action is PostAction.CREATED
    assert 2.0 in fake.waits


def test_a_token_that_is_not_valid_is_said_without_the_token(fake) -> None:
    host = GitHub(repository="org/repo", number=3, token="wrong-" + TOKEN, api=fake.url)
    with pytest.raises(CodeHostError, match="401") as caught:
        post_section(host, "prod", "x")

    assert TOKEN not in str(caught.value)
    assert TOKEN not in repr(host)


def test_a_workflow_token_that_may_not_ask_who_it_is_writes_as_the_actions_bot(fake) -> None:
    fake.user_is_known = False
    fake.add(build_comment({"prod": "**Changes** old"}))["user"]["login"] = "github-actions[bot]"
    host = GitHub(repository="org/repo", number=3, token=TOKEN, api=fake.url)

    assert post_section(host, "prod", "**Changes** new").action is PostAction.UPDATED


def test_a_redirect_is_not_followed_with_the_token(fake) -> None:
    fake.failures = [(302, {"Location": "http://127.0.0.1:9/steal"})]
    host = GitHub(repository="org/repo", number=3, token=TOKEN, api=fake.url)

    with pytest.raises(CodeHostError, match="302"):
        post_section(host, "prod", "x")


@pytest.mark.parametrize("api", ["http://example.com", "ftp://example.com", "file:///etc"])
def test_a_token_goes_only_over_https(api: str) -> None:
    with pytest.raises(CodeHostError, match="not an https address"):
        post_section(GitHub(repository="org/repo", number=3, token=TOKEN, api=api), "prod", "x")


@pytest.mark.parametrize("repository", ["org", "org/repo/../../user", "org/re po", "../x"])
def test_a_repository_name_cannot_reach_other_paths(repository: str) -> None:
    with pytest.raises(CodeHostError, match="OWNER/NAME"):
        GitHub(repository=repository, number=3, token=TOKEN)


@pytest.mark.parametrize("stack", ["prod", "org/proj/prod", "a--b", "-->", "x y", "über"])
def test_any_stack_name_finds_its_section_again(stack: str) -> None:
    comment = merge_section(build_comment({"other": "**Changes** o"}), stack, "**Danger** 1")
    again = merge_section(comment, stack, "**Danger** 2")

    assert sections_in(again) == {"other": "**Changes** o", stack: "**Danger** 2"}
    assert again.count(COMMENT_MARKER) == 1


def test_sections_too_long_together_lose_folds_and_keep_danger() -> None:
    long = (
        "**Danger** x\n\n### Danger (1)\n- node group `a` deleted\n\n<details><summary>s</summary>\n"
        + "- row\n" * 9000
        + "\n</details>\n"
    )
    comment = build_comment({"a": long, "b": long})

    assert len(comment) <= 60_000
    assert comment.count("node group `a` deleted") == 2
    assert "it holds no danger" in comment
