"""What is put into the sandbox's cloud before `up`: reservations and the user's own images, never more than the plan says."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from gpukit_sandbox import bought
from gpukit_sandbox.errors import PartFailed

from gpukit.plan import Plan
from gpukit.planning import plan_from_input
from gpukit.stackfile import read_text

TWO_BLOCKS = """
preset: thousand-card
pools:
  train:
    capacity:
      mode: capacity-block
      reservations:
        - {id: cr-00000000000000a01, nodes: 64, availability_zone: us-east-1a, starts: 2026-12-10, ends: 2026-12-24}
        - {id: cr-00000000000000a02, nodes: 64, availability_zone: us-east-1a}
"""
OWN_IMAGE = """
preset: single-node
images:
  pytorch: {framework: pytorch, ami_id: ami-0123456789abcdef0}
"""


def _plan(text: str) -> Plan:
    plan = plan_from_input(read_text(text, file="stack")).plan
    assert plan is not None
    return plan


class Cloud:
    """The administrative endpoint, with an answer that can be chosen."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, dict[str, Any]]] = []
        self.status = 200
        cloud = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                cloud.posted.append((self.path, body))
                self.send_response(cloud.status)
                self.end_headers()
                self.wfile.write(b'{"error": "no such type"}')

            def log_message(self, *_words: object) -> None:
                pass

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    monkeypatch.setattr(bought, "_present_reservations", lambda _plan, _endpoint: set())
    double = Cloud()
    thread = threading.Thread(target=double.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield double
    double.server.shutdown()
    double.server.server_close()


def test_each_block_is_as_large_as_its_node_group() -> None:
    found = bought.list_reservations(_plan(TWO_BLOCKS))

    assert [(item["id"], item["instances"], item["capacity_block"]) for item in found] == [
        ("cr-00000000000000a01", 64, True),
        ("cr-00000000000000a02", 64, True),
    ]
    assert {(item["instance_type"], item["availability_zone"], item["region"]) for item in found} == {
        ("p5en.48xlarge", "us-east-1a", "us-east-1")
    }
    assert (found[0]["starts"], found[0]["ends"]) == ("2026-12-10", "2026-12-24")


def test_a_preset_that_names_no_block_buys_nothing() -> None:
    assert bought.list_reservations(_plan("preset: thousand-card")) == []


def test_images_pinned_by_name_are_amazon_s_own() -> None:
    assert bought.list_images(_plan("preset: single-node")) == []


def test_an_image_pinned_by_id_is_the_user_s_own() -> None:
    [image] = bought.list_images(_plan(OWN_IMAGE))

    assert image["id"] == "ami-0123456789abcdef0"
    assert image["architecture"] == "x86_64"
    assert image["root_gib"] > 0


def test_what_was_bought_is_told_and_sent(cloud: Cloud) -> None:
    told = bought.put_into_cloud(_plan(TWO_BLOCKS), cloud.endpoint)

    assert told[0] == "bought before: Capacity Block cr-00000000000000a01, 64 x p5en.48xlarge in us-east-1a"
    assert [path for path, _ in cloud.posted] == ["/_gpukit/reservations"] * 2
    assert "starts" not in cloud.posted[1][1]


def test_what_is_there_already_is_not_bought_again(cloud: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bought, "_present_reservations", lambda _plan, _endpoint: {"cr-00000000000000a01"})
    bought.put_into_cloud(_plan(TWO_BLOCKS), cloud.endpoint)

    assert [body["id"] for _, body in cloud.posted] == ["cr-00000000000000a02"]


def test_a_refusal_of_the_cloud_names_what_was_refused(cloud: Cloud) -> None:
    cloud.status = 400

    with pytest.raises(PartFailed, match="refuses reservation cr-00000000000000a01") as caught:
        bought.put_into_cloud(_plan(TWO_BLOCKS), cloud.endpoint)
    assert "no such type" in str(caught.value)


def test_a_cloud_that_does_not_answer_is_a_part_that_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bought, "_present_reservations", lambda _plan, _endpoint: set())

    with pytest.raises(PartFailed, match="does not answer"):
        bought.put_into_cloud(_plan(TWO_BLOCKS), "http://127.0.0.1:9")
