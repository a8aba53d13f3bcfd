"""What several cluster tests need: a plan, its nodes without a cloud, waiting, and looking at jobs."""

import time
from collections.abc import Callable
from datetime import date
from typing import Any

from gpukit_sandbox.kube.api import KubeApi
from gpukit_sandbox.kube.nodes import hardware_of, render_node

from gpukit.plan import Plan, PoolPlan
from gpukit.planning import plan_from_preset

KUEUE = "kueue.x-k8s.io/v1beta2"


def preset_plan(name: str = "multi-node") -> Plan:
    result = plan_from_preset(name, today=date(2026, 12, 1))
    assert result.plan is not None
    return result.plan


def wait_for(what: Callable[[], Any], *, seconds: float = 40.0) -> Any:
    """Return the first true value of `what`; fail when none comes."""
    deadline = time.monotonic() + seconds
    while True:
        value = what()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"it did not happen within {seconds:.0f} s: {what}")
        time.sleep(0.2)


def add_nodes(api: KubeApi, plan: Plan) -> list[str]:
    """Make the plan's GPU nodes without a cloud, two to a leaf of the network, and return their names."""
    names = []
    number = 0
    for pool in plan.pools:
        for group in pool.node_groups:
            for _ in range(group.instances):
                node = render_node(
                    _instance(number, pool, group.availability_zone),
                    {
                        "clusterName": "c",
                        "nodegroupName": group.name,
                        "labels": group.labels,
                        "taints": [{"key": t.key, "value": t.value, "effect": "NO_SCHEDULE"} for t in group.taints],
                    },
                    hardware_of(pool.instance_type),
                    region=plan.region,
                    network_nodes=("nn-top", f"nn-spine-{number // 4}", f"nn-leaf-{number // 2}"),
                )
                # The node joiner must not take these for nodes of the cloud that have gone.
                del node["metadata"]["annotations"]["gpukit.dev/joined-by"]
                api.create(node)
                names.append(node["metadata"]["name"])
                number += 1
    wait_for(lambda: all(map(is_ready, api.list("v1", "Node"))))
    return names


def is_ready(node: dict[str, Any]) -> bool:
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
    return ready and not any(t["key"].startswith("node.kubernetes.io/") for t in node["spec"].get("taints", []))


def pods_of(api: KubeApi, namespace: str, job: str) -> list[dict[str, Any]]:
    return api.list("v1", "Pod", namespace=namespace, labels=f"job-name={job}")


def running_nodes(api: KubeApi, namespace: str, job: str) -> list[str]:
    return [p["spec"]["nodeName"] for p in pods_of(api, namespace, job) if p["status"].get("phase") == "Running"]


def workload_of(api: KubeApi, namespace: str, job: str) -> dict[str, Any] | None:
    for workload in api.list(KUEUE, "Workload", namespace=namespace):
        if any(owner["name"] == job for owner in workload["metadata"].get("ownerReferences", [])):
            return workload
    return None


def condition(thing: dict[str, Any] | None, kind: str) -> dict[str, Any]:
    conditions = ((thing or {}).get("status") or {}).get("conditions") or []
    return next((c for c in conditions if c["type"] == kind), {"status": "Unknown", "reason": "", "message": ""})


def _instance(number: int, pool: PoolPlan, zone: str) -> dict[str, Any]:
    address = f"10.0.{number // 250}.{number % 250 + 4}"
    return {
        "InstanceId": f"i-{number:017x}",
        "InstanceType": pool.instance_type,
        "PrivateIpAddress": address,
        "PrivateDnsName": f"ip-{address.replace('.', '-')}.ec2.internal",
        "Placement": {"AvailabilityZone": zone},
        "NetworkInterfaces": [{"InterfaceType": "efa-only"}] * pool.efa_interfaces_per_node,
    }
