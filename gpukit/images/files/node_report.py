#!/usr/bin/env python3
"""Tell Kubernetes what `node_check.py` found: a node condition that people see, a taint that the scheduler heeds.

    node_report.py --verdict verdict.json --node NAME [--every SECONDS]

Runs in a pod on the node, with a service account that may patch nodes: a kubelet may not change its own taints.
Python 3.9 and nothing else.
"""

# mypy: ignore-errors
# (a script for the Python of the node, 3.9 and later, without the packages of this project)

import argparse
import json
import os
import sys
import time

CONDITION = "GpukitNodeHealthy"
TAINT = "gpukit.dev/node-check"


def condition_of(verdict, now):
    """Return the node condition of a verdict; `now` is an RFC 3339 time."""
    return {
        "type": CONDITION,
        "status": "True" if verdict["healthy"] else "False",
        "reason": verdict["reason"],
        "message": verdict["message"][:1000] or "all checks passed",
        "lastHeartbeatTime": now,
        "lastTransitionTime": now,
    }


def merge_condition(conditions, wanted):
    """Return the conditions with ours in place; its transition time moves only when its status does."""
    merged, old = [], None
    for condition in conditions:
        if condition.get("type") == wanted["type"]:
            old = condition
        else:
            merged.append(condition)
    if old and old.get("status") == wanted["status"]:
        wanted = dict(wanted, lastTransitionTime=old.get("lastTransitionTime", wanted["lastTransitionTime"]))
    return [*merged, wanted]


def taints_after(taints, verdict):
    """Return the node's taints with ours set or gone; those of others stay as they are."""
    kept = [taint for taint in taints if taint.get("key") != TAINT]
    if verdict["healthy"]:
        return kept
    return [*kept, {"key": TAINT, "value": verdict["reason"], "effect": "NoSchedule"}]


def decide_replacements(nodes, now, at_once=1, per_hour=2, history=()):
    """
    Return names of nodes that may be replaced now, the longest broken first.

    `nodes` is a list of dicts: name, and signals {source: time of the first failure}. One signal is never enough: two
    independent sources (this check, the DCGM exporter, the cloud's own monitor) must say the same for ten minutes.
    `history` holds the times of earlier replacements; at most `at_once` at one time and `per_hour` in an hour.
    """
    recent = [moment for moment in history if now - moment < 3600]
    room = min(at_once, per_hour - len(recent))
    if room <= 0:
        return []
    sure = []
    for node in nodes:
        times = sorted(moment for moment in node.get("signals", {}).values() if now - moment >= 600)
        if len(times) >= 2 and not node.get("being_replaced"):
            sure.append((times[1], node["name"]))
    busy = sum(1 for node in nodes if node.get("being_replaced"))
    return [name for _, name in sorted(sure)[: max(0, room - busy)]]


def report(verdict, node, api=None, now=None):
    """Write condition and taint to the API with the pod's own service account."""
    api = api or Api()
    now = now or time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    current = api.call("GET", "/api/v1/nodes/" + node)
    conditions = merge_condition(current["status"].get("conditions", []), condition_of(verdict, now))
    # The answer, not what was read before: writing the condition has moved the resource version.
    current = api.call("PATCH", f"/api/v1/nodes/{node}/status", {"status": {"conditions": [conditions[-1]]}})
    before = current["spec"].get("taints", [])
    after = taints_after(before, verdict)
    if after != before:
        # The resource version makes the API refuse the change where somebody else changed the taints meanwhile.
        version = current["metadata"]["resourceVersion"]
        body = {"metadata": {"resourceVersion": version}, "spec": {"taints": after}}
        api.call("PATCH", "/api/v1/nodes/" + node, body, kind="application/merge-patch+json")


class Api:
    """The Kubernetes API from inside a pod."""

    def __init__(self, folder="/var/run/secrets/kubernetes.io/serviceaccount", address=None):
        self.folder = folder
        host, port = os.environ.get("KUBERNETES_SERVICE_HOST", ""), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
        self.address = address or f"https://{host}:{port}"

    def call(self, method, path, body=None, kind="application/strategic-merge-patch+json"):
        import ssl
        import urllib.request

        context = None
        headers = {"Content-Type": kind, "Accept": "application/json"}
        if self.address.startswith("https"):
            context = ssl.create_default_context(cafile=os.path.join(self.folder, "ca.crt"))
        token = os.path.join(self.folder, "token")
        if os.path.exists(token):
            with open(token) as file:
                headers["Authorization"] = "Bearer " + file.read().strip()
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.address + path, data=data, method=method, headers=headers)
        with urllib.request.urlopen(request, timeout=30, context=context) as answer:
            return json.loads(answer.read())


def read_verdict(path, max_age, now):
    """Return the verdict of the check. One that is missing, broken or old is a check that did not pass."""
    try:
        with open(path) as file:
            verdict = json.load(file)
            age = now - os.fstat(file.fileno()).st_mtime
    except (OSError, ValueError) as error:
        return {"healthy": False, "reason": "NoVerdict", "message": str(error)[:300]}
    if age > max_age:
        return {"healthy": False, "reason": "VerdictOld", "message": f"the last check was {int(age)} seconds ago"}
    return verdict


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--verdict", required=True)
    parser.add_argument("--node", default=os.environ.get("NODE_NAME", ""))
    parser.add_argument("--every", type=float, default=0)
    parser.add_argument("--max-age", type=float, default=1800, help="seconds after which a verdict is old")
    chosen = parser.parse_args(arguments)
    while True:
        verdict = read_verdict(chosen.verdict, chosen.max_age, time.time())
        try:
            report(verdict, chosen.node)
        except OSError as error:
            print(f"node_report: {error}", file=sys.stderr, flush=True)
            if not chosen.every:
                return 1
        if not chosen.every:
            return 0
        time.sleep(chosen.every)


if __name__ == "__main__":
    sys.exit(main())
