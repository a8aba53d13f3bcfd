"""
What KWOK does with nodes and pods, as its configuration file.

A node is Ready at once, unless the annotation `gpukit.dev/fails` gives a reason: then it is NotReady until the annotation goes. A pod runs as soon as
it is bound, and a Job's pod succeeds after the time in the annotation `pod-complete.stage.kwok.x-k8s.io/delay` (never, when it has none).
Source of the format: KWOK, "Stages Configuration", 2026-08.
"""

from typing import Final

NODE_FAILS: Final = "gpukit.dev/fails"
"""Annotation of a node: its value is why it is NotReady."""
RUNS_FOR: Final = "pod-complete.stage.kwok.x-k8s.io/delay"
"""Annotation of a Job's pod: how long it runs, as a Go duration such as `90s`."""

_CONDITIONS: Final = """
{{ $now := Now }}
{{ range NodeConditions }}
- lastHeartbeatTime: {{ $now | Quote }}
  lastTransitionTime: {{ $now | Quote }}
  message: {{ .message | Quote }}
  reason: {{ .reason | Quote }}
  status: {{ .status | Quote }}
  type: {{ .type | Quote }}
{{ end }}
"""


def render_stages() -> str:
    """Return KWOK's configuration file."""
    import yaml

    return yaml.safe_dump_all(
        [node_ready(), node_fails(), node_heartbeat(), pod_runs(), pod_completes(), pod_goes()], sort_keys=False
    )


def node_ready() -> dict[str, object]:
    """A node that joins, or that has recovered, is Ready."""
    return _stage(
        "node-ready",
        "Node",
        [_annotation(NODE_FAILS, "DoesNotExist"), _condition("Ready", "NotIn", "True")],
        "conditions:" + _CONDITIONS + "phase: Running\n",
    )


def node_fails() -> dict[str, object]:
    """A node with the annotation is NotReady for the annotation's reason."""
    status = f"""
{{{{ $now := Now }}}}
conditions:
- lastHeartbeatTime: {{{{ $now | Quote }}}}
  lastTransitionTime: {{{{ $now | Quote }}}}
  message: {{{{ index .metadata.annotations "{NODE_FAILS}" | Quote }}}}
  reason: NodeFailed
  status: "False"
  type: Ready
"""
    return _stage("node-fails", "Node", [_annotation(NODE_FAILS, "Exists"), _condition("Ready", "In", "True")], status)


def node_heartbeat() -> dict[str, object]:
    """A Ready node says so again every ten minutes; its lease, which counts, is renewed by KWOK itself."""
    stage = _stage(
        "node-heartbeat",
        "Node",
        [_annotation(NODE_FAILS, "DoesNotExist"), _condition("Ready", "In", "True")],
        "conditions:" + _CONDITIONS,
    )
    stage["spec"]["delay"] = {"durationMilliseconds": 600_000, "jitterDurationMilliseconds": 610_000}  # type: ignore[index]
    return stage


def pod_runs() -> dict[str, object]:
    """A pod that is bound to a node runs and is ready."""
    status = """
{{ $now := Now }}
conditions:
{{ range $type := list "Initialized" "PodReadyToStartContainers" "ContainersReady" "Ready" }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ $type | Quote }}
{{ end }}
{{ range .spec.readinessGates }}
- lastTransitionTime: {{ $now | Quote }}
  status: "True"
  type: {{ .conditionType | Quote }}
{{ end }}
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: true
  restartCount: 0
  started: true
  state:
    running:
      startedAt: {{ $now | Quote }}
{{ end }}
{{ with NodeIPsWith .spec.nodeName }}
hostIP: {{ index . 0 | Quote }}
hostIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
{{ with PodIPsWith .spec.nodeName ( or .spec.hostNetwork false ) ( or .metadata.uid "" ) ( or .metadata.name "" ) ( or .metadata.namespace "" ) }}
podIP: {{ index . 0 | Quote }}
podIPs:
{{ range . }}
- ip: {{ . | Quote }}
{{ end }}
{{ end }}
phase: Running
startTime: {{ $now | Quote }}
"""
    return _stage(
        "pod-runs",
        "Pod",
        [_living(), _field(".status.phase", "In", "Pending"), _condition("Ready", "NotIn", "True")],
        status,
    )


def pod_completes() -> dict[str, object]:
    """A Job's pod succeeds after its annotated time."""
    status = """
{{ $now := Now }}
{{ $root := . }}
conditions:
- lastTransitionTime: {{ $now | Quote }}
  status: "False"
  reason: PodCompleted
  type: Ready
- lastTransitionTime: {{ $now | Quote }}
  status: "False"
  reason: PodCompleted
  type: ContainersReady
containerStatuses:
{{ range .spec.containers }}
- image: {{ .image | Quote }}
  name: {{ .name | Quote }}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: 0
      finishedAt: {{ $now | Quote }}
      reason: Completed
      startedAt: {{ or $root.status.startTime $now | Quote }}
{{ end }}
phase: Succeeded
"""
    selectors = [
        _living(),
        _field(".status.phase", "In", "Running"),
        _annotation(RUNS_FOR, "Exists"),
        {"key": ".metadata.ownerReferences.[].kind", "operator": "In", "values": ["Job"]},
    ]
    stage = _stage("pod-completes", "Pod", selectors, status)
    stage["spec"]["delay"] = {
        "durationMilliseconds": 0,
        "durationFrom": {"expressionFrom": f'.metadata.annotations["{RUNS_FOR}"]'},
    }  # type: ignore[index]
    return stage


def pod_goes() -> dict[str, object]:
    """A pod that is being deleted goes at once: there is no process to wait for."""
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": "pod-goes"},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}]},
            "next": {"finalizers": {"empty": False}, "delete": True},
        },
    }


def _stage(name: str, kind: str, selectors: list[dict[str, object]], status: str) -> dict[str, object]:
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": kind},
            "selector": {"matchExpressions": selectors},
            "next": {"statusTemplate": status},
        },
    }


def _annotation(name: str, operator: str) -> dict[str, object]:
    return {"key": f'.metadata.annotations["{name}"]', "operator": operator}


def _condition(kind: str, operator: str, value: str) -> dict[str, object]:
    return {
        "key": f'.status.conditions.[] | select( .type == "{kind}" ) | .status',
        "operator": operator,
        "values": [value],
    }


def _field(path: str, operator: str, value: str) -> dict[str, object]:
    return {"key": path, "operator": operator, "values": [value]}


def _living() -> dict[str, object]:
    return {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"}
