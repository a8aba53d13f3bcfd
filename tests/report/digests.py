"""Build preview digests in the engine's form, as small as a test's claim needs."""

import json
from typing import Any

STACK = "urn:pulumi:prod::demo::pulumi:pulumi:Stack::demo-prod"
POOL = "urn:pulumi:prod::demo::gpukit:index:GpuNodePool::train"
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def urn(token: str, name: str, parent: str = "gpukit:index:GpuNodePool") -> str:
    return f"urn:pulumi:prod::demo::{parent}${token}::{name}" if parent else f"urn:pulumi:prod::demo::{token}::{name}"


def state(token: str, name: str, inputs: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"urn": urn(token, name), "custom": True, "type": token, "inputs": inputs, "parent": POOL, **more}


def step(
    op: str,
    token: str,
    name: str,
    *,
    old: dict[str, Any] | None = None,
    new: dict[str, Any] | None = None,
    detailed: dict[str, str] | None = None,
    replace: list[str] | None = None,
    **old_state: Any,
) -> dict[str, Any]:
    made: dict[str, Any] = {"op": op, "urn": urn(token, name), "detailedDiff": None}
    if old is not None:
        made["oldState"] = state(token, name, old, **old_state)
    if new is not None:
        made["newState"] = state(token, name, new)
    if detailed is not None:
        made["detailedDiff"] = {path: {"kind": kind, "inputDiff": True} for path, kind in detailed.items()}
    if replace:
        made["replaceReasons"] = replace
    return made


def digest(*steps: dict[str, Any], totals: dict[str, Any] | None = None, op: str = "same", **more: Any) -> str:
    outputs = {"totals": totals} if totals is not None else {}
    root: dict[str, Any] = {"op": op, "urn": STACK, "newState": {"urn": STACK, "custom": False, "outputs": {}}}
    if op != "create":
        root["oldState"] = {"urn": STACK, "custom": False, "outputs": outputs}
    counts: dict[str, int] = {}
    for item in steps:
        counts[item["op"]] = counts.get(item["op"], 0) + 1
    return json.dumps({"steps": [root, *steps], "changeSummary": {"same": 41, **counts}, **more})


TOTALS = {
    "gpus": 512, "nodes": 64, "hourly_usd": 4000.0, "monthly_usd": 2920000.0, "it_kw": 640.0, "kgco2e_per_month": 170000.0,
    "unpriced": 0,
}  # fmt: skip
GPU_GROUP = {
    "amiType": "AL2023_x86_64_NVIDIA",
    "scalingConfig": {"desiredSize": 64, "minSize": 64, "maxSize": 64},
    "launchTemplate": {"id": "lt-1", "version": "1"},
    "tags": {"team": "vision"},
}
