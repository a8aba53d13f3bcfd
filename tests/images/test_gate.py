"""What Kubernetes is told of a node: condition, taint, and which nodes may be replaced."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from gpukit.images.gate import render_gate_manifests
from gpukit.images.manifest import FloatingPin

IMAGE = "public.ecr.aws/docker/library/python:3.13.7-slim"
GOOD = {"healthy": True, "reason": "NodeHealthy", "message": ""}
BAD = {"healthy": False, "reason": "NvlinkDown", "message": "GPU 1 link 6: <inactive>"}
GPU_TAINT = {"key": "nvidia.com/gpu", "value": "true", "effect": "NoSchedule"}
OURS = {"key": "gpukit.dev/node-check", "value": "NvlinkDown", "effect": "NoSchedule"}
HOUR = 3600


def test_the_manifests_are_a_golden(compare_golden) -> None:
    import yaml

    text = yaml.safe_dump_all(render_gate_manifests(python_image=IMAGE), sort_keys=False, width=110)

    compare_golden("gate.yaml", text)


def test_the_reporter_may_touch_nodes_only_and_runs_without_rights(node_report) -> None:
    manifests = {item["kind"]: item for item in render_gate_manifests(python_image=IMAGE)}
    pod = manifests["DaemonSet"]["spec"]["template"]["spec"]
    security = pod["containers"][0]["securityContext"]

    assert {tuple(rule["resources"]) for rule in manifests["ClusterRole"]["rules"]} == {("nodes",), ("nodes/status",)}
    assert (security["runAsNonRoot"], security["readOnlyRootFilesystem"]) == (True, True)
    assert "hostNetwork" not in pod
    assert pod["tolerations"] == [{"operator": "Exists"}]


def test_a_floating_image_for_the_reporter_is_refused() -> None:
    with pytest.raises(FloatingPin):
        render_gate_manifests(python_image="python:latest")


def test_a_condition_carries_the_reason_and_moves_its_time_only_with_its_status(node_report) -> None:
    first = node_report.condition_of(BAD, "2026-12-01T10:00:00Z")
    merged = node_report.merge_condition([{"type": "Ready", "status": "True"}], first)
    again = node_report.merge_condition(merged, node_report.condition_of(BAD, "2026-12-01T10:01:00Z"))
    healed = node_report.merge_condition(again, node_report.condition_of(GOOD, "2026-12-01T10:02:00Z"))

    assert [item["type"] for item in healed] == ["Ready", "GpukitNodeHealthy"]
    assert again[-1]["lastTransitionTime"] == "2026-12-01T10:00:00Z"
    assert again[-1]["lastHeartbeatTime"] == "2026-12-01T10:01:00Z"
    assert (healed[-1]["status"], healed[-1]["lastTransitionTime"]) == ("True", "2026-12-01T10:02:00Z")


@pytest.mark.parametrize(
    ("before", "verdict", "after"),
    [
        pytest.param([GPU_TAINT], BAD, [GPU_TAINT, OURS], id="broken"),
        pytest.param([GPU_TAINT, OURS], GOOD, [GPU_TAINT], id="healed"),
        pytest.param([GPU_TAINT], GOOD, [GPU_TAINT], id="stays healthy"),
        pytest.param([{**OURS, "value": "EfaMissing"}], BAD, [OURS], id="another reason"),
        pytest.param([], GOOD, [], id="no taint at all"),
    ],
)
def test_only_our_own_taint_is_touched(node_report, before, verdict, after) -> None:
    assert node_report.taints_after(before, verdict) == after


@pytest.mark.parametrize(
    ("nodes", "history", "expected"),
    [
        pytest.param([{"name": "a", "signals": {"check": 0}}], [], [], id="one signal is never enough"),
        pytest.param([{"name": "a", "signals": {"check": 0, "dcgm": 0}}], [], ["a"], id="two signals"),
        pytest.param([{"name": "a", "signals": {"check": 0, "dcgm": HOUR - 60}}], [], [], id="the second is too young"),
        pytest.param(
            [{"name": "b", "signals": {"check": 200, "dcgm": 300}}, {"name": "a", "signals": {"check": 0, "ec2": 100}}],
            [],
            ["a"],
            id="one at a time, the longest broken first",
        ),
        pytest.param([{"name": "a", "signals": {"check": 0, "dcgm": 0}}], [HOUR - 10, HOUR - 20], [], id="two an hour"),
        pytest.param([{"name": "a", "signals": {"check": 0, "dcgm": 0}}], [-10, -20], ["a"], id="older ones do not count"),
        pytest.param(
            [
                {"name": "a", "signals": {"check": 0, "dcgm": 0}},
                {"name": "b", "signals": {"check": 0, "dcgm": 0}, "being_replaced": True},
            ],
            [],
            [],
            id="one is on its way already",
        ),
        pytest.param(
            [{"name": f"n{i}", "signals": {"check": 0, "dcgm": 0}} for i in range(128)], [], ["n0"], id="a false alarm everywhere"
        ),
        pytest.param([], [], [], id="no node"),
    ],
)  # fmt: skip
def test_which_nodes_may_be_replaced(node_report, nodes, history, expected) -> None:
    """containers-roadmap#2763: a false alarm of one monitor replaced healthy GPU nodes."""
    assert node_report.decide_replacements(nodes, HOUR, history=history) == expected


class Server:
    """A small API server that keeps one node."""

    def __init__(self, taints) -> None:
        self.node = {
            "metadata": {"name": "n1", "resourceVersion": "7"},
            "spec": {"taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        }
        self.calls: list[tuple[str, str, str, dict]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.answer(outer.node)

            def do_PATCH(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.calls.append((self.path, self.headers["Content-Type"], self.headers["Authorization"] or "", body))
                known, meta = body.get("metadata", {}).get("resourceVersion"), outer.node["metadata"]
                if known not in (None, meta["resourceVersion"]):
                    self.send_error(409)
                    return
                meta["resourceVersion"] = str(int(meta["resourceVersion"]) + 1)
                self.answer(outer.node)

            def answer(self, value) -> None:
                data = json.dumps(value).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"


@pytest.fixture
def serve():
    made = []

    def start(taints) -> Server:
        made.append(Server(taints))
        return made[-1]

    yield start
    for server in made:
        server.server.shutdown()
        server.server.server_close()


def test_a_report_writes_condition_and_taint_with_the_pods_own_token(node_report, serve, tmp_path) -> None:
    server = serve([GPU_TAINT])
    (tmp_path / "token").write_text("abc\n")

    node_report.report(BAD, "n1", api=node_report.Api(str(tmp_path), server.address), now="2026-12-01T10:00:00Z")

    status, taints = server.calls
    assert status[:3] == ("/api/v1/nodes/n1/status", "application/strategic-merge-patch+json", "Bearer abc")
    assert status[3]["status"]["conditions"][0]["reason"] == "NvlinkDown"
    assert taints[:2] == ("/api/v1/nodes/n1", "application/merge-patch+json")
    assert taints[3] == {"metadata": {"resourceVersion": "8"}, "spec": {"taints": [GPU_TAINT, OURS]}}


def test_a_healthy_report_leaves_foreign_taints_alone(node_report, serve, tmp_path) -> None:
    server = serve([GPU_TAINT])

    node_report.report(GOOD, "n1", api=node_report.Api(str(tmp_path), server.address), now="2026-12-01T10:00:00Z")

    assert [call[0] for call in server.calls] == ["/api/v1/nodes/n1/status"]


def test_a_missing_verdict_is_reported_as_not_healthy(node_report, serve, tmp_path, monkeypatch) -> None:
    server = serve([])
    api = node_report.Api(str(tmp_path), server.address)
    monkeypatch.setattr(node_report, "Api", lambda: api)

    assert node_report.main(["--verdict", str(tmp_path / "none.json"), "--node", "n1"]) == 0
    assert server.calls[1][3]["spec"]["taints"][0]["value"] == "NoVerdict"


@pytest.mark.parametrize(
    ("text", "age", "reason"),
    [
        pytest.param('{"healthy": true, "reason": "NodeHealthy", "message": ""}', 60, "NodeHealthy", id="fresh"),
        pytest.param('{"healthy": true, "reason": "NodeHealthy", "message": ""}', 3600, "VerdictOld", id="old"),
        pytest.param("{", 60, "NoVerdict", id="broken"),
        pytest.param(None, 60, "NoVerdict", id="missing"),
    ],
)
def test_only_a_fresh_verdict_counts(node_report, tmp_path, text, age, reason) -> None:
    path = tmp_path / "verdict.json"
    written = 1_000_000.0
    if text is not None:
        path.write_text(text)
        os.utime(path, (written, written))

    assert node_report.read_verdict(str(path), 1800, written + age)["reason"] == reason
