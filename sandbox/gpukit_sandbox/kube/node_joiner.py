"""
Let the nodes of the cloud's node groups join, change and leave the control plane: what kubelets and EKS do.

Looks at EKS and EC2 through boto3 whenever the cloud says that something changed. A node group's running instances are nodes, whatever the group's own
status: on AWS they join before the group is ACTIVE, and those that did launch stay when the rest could not. Nodes that it did not make are never touched.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox.cloud import world
from gpukit_sandbox.errors import SandboxError
from gpukit_sandbox.kube.access_rights import cluster_bindings, namespace_bindings
from gpukit_sandbox.kube.api import KubeApi, KubeRefused
from gpukit_sandbox.kube.nodes import JOINED_BY, OWNED_LABELS, hardware_of, render_node
from gpukit_sandbox.state import read_json

LOOK_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 2.0
LOOK_ANYWAY_SECONDS: Final = 20.0
"""Bindings of namespaces that appear later need no change in the cloud."""
WORKERS: Final = 6
PAGE: Final = 100
"""Instances in one question: the most that DescribeInstanceTopology takes."""
_LIVING: Final = ("Pending", "InService")


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What a look found to do, by node name."""

    join: tuple[dict[str, Any], ...]
    change: tuple[dict[str, Any], ...]
    leave: tuple[str, ...]


def compare(wanted: Mapping[str, Mapping[str, Any]], present: Mapping[str, Mapping[str, Any]]) -> Changes:
    """Return what makes the cluster's joined nodes those of the cloud: new ones, relabelled ones, gone ones."""
    join, change = [], []
    for name, node in wanted.items():
        if name not in present:
            join.append(dict(node))
        elif _instance(node) != _instance(present[name]):
            # The address went to another instance: that is another node by the same name.
            join.append(dict(node))
        else:
            patch = difference(node, present[name])
            if patch:
                change.append(patch)
    replaced = {
        name for name, node in wanted.items() if name in present and _instance(node) != _instance(present[name])
    }
    leave = sorted((set(present) - set(wanted)) | replaced)
    return Changes(join=tuple(join), change=tuple(change), leave=tuple(leave))


def difference(wanted: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merge patch for labels and taints that came from the node group and changed; empty when nothing did."""
    labels, has = wanted["metadata"]["labels"], present["metadata"].get("labels") or {}
    changed: dict[str, str | None] = {key: value for key, value in labels.items() if has.get(key) != value}
    owned = (present["metadata"].get("annotations") or {}).get(OWNED_LABELS, "")
    changed |= {key: None for key in owned.split(",") if key and key not in labels and key in has}
    patch: dict[str, Any] = {}
    if changed:
        patch["metadata"] = {
            "name": wanted["metadata"]["name"],
            "labels": changed,
            "annotations": {OWNED_LABELS: wanted["metadata"]["annotations"][OWNED_LABELS]},
        }
    # Kubernetes adds taints of its own (not-ready, unschedulable): those stay.
    own = [taint for taint in (present["spec"].get("taints") or []) if taint["key"].startswith("node.kubernetes.io/")]
    other = [taint for taint in (present["spec"].get("taints") or []) if taint not in own]
    if _taint_set(other) != _taint_set(wanted["spec"]["taints"]):
        patch.setdefault("metadata", {"name": wanted["metadata"]["name"]})
        patch["spec"] = {"taints": [*wanted["spec"]["taints"], *own]}
    return patch


class NodeJoiner:
    """Keeps the nodes of one control plane as one cloud has them."""

    def __init__(self, api: KubeApi, cloud: Path) -> None:
        """Bind both sides; look at nothing yet."""
        self.api = api
        self.cloud = cloud
        self.version = ""
        self._seen: Any = None
        self._looked = 0.0

    def run(self) -> None:
        """Watch until the process is ended."""
        for binding in cluster_bindings():
            self.api.apply(binding)
        self.version = self.api.version()
        while True:
            started = time.monotonic()
            try:
                self.look()
            except (SandboxError, OSError, ValueError) as problem:
                print(f"{time.strftime('%H:%M:%S')} {problem}", flush=True)
                time.sleep(2)
            except Exception as problem:
                # boto3's own errors while the cloud restarts or a fault is on: look again later.
                print(f"{time.strftime('%H:%M:%S')} {type(problem).__name__}: {problem}", flush=True)
                time.sleep(2)
            # A look costs both sides processor time: at most half of it, but nodes must not wait long for the next.
            time.sleep(min(max(LOOK_SECONDS, time.monotonic() - started), LONGEST_PAUSE_SECONDS))

    def look(self) -> Changes | None:
        """Reconcile once, if the cloud changed since the last look; return what was done."""
        endpoint = str(read_json(self.cloud / "cloud.json").get("endpoint", ""))
        if not endpoint:
            return None
        seen = (endpoint, world.ask(endpoint, "GET", "/version")["version"])
        if seen == self._seen and time.monotonic() - self._looked < LOOK_ANYWAY_SECONDS:
            return None
        regions = [region for region, kinds in world.describe_world(endpoint).items() if kinds.get("eks-clusters")]
        wanted: dict[str, dict[str, Any]] = {}
        grants: list[tuple[str, str]] = []
        for region in regions:
            found = _Region(endpoint, region)
            wanted.update({node["metadata"]["name"]: node for node in found.nodes(self.version)})
            grants += found.grants()
        present = {
            node["metadata"]["name"]: node
            for node in self.api.list("v1", "Node")
            if JOINED_BY in (node["metadata"].get("annotations") or {})
        }
        changes = compare(wanted, present)
        self.carry_out(changes)
        self._bind(grants)
        self._seen, self._looked = seen, time.monotonic()
        return changes

    def carry_out(self, changes: Changes) -> None:
        """Do it: leave first, so that a replaced node's name is free."""
        with ThreadPoolExecutor(max_workers=WORKERS) as pool:
            list(pool.map(self._leave, changes.leave))
            list(pool.map(self._join, changes.join))
            list(pool.map(lambda patch: self.api.patch("v1", "Node", patch["metadata"]["name"], patch), changes.change))
        if changes.join or changes.leave or changes.change:
            print(
                f"{time.strftime('%H:%M:%S')} {len(changes.join)} joined, {len(changes.change)} changed, {len(changes.leave)} left",
                flush=True,
            )

    def _join(self, node: dict[str, Any]) -> None:
        try:
            self.api.create(node)
        except KubeRefused as refusal:
            if refusal.status != 409:
                raise

    def _leave(self, name: str) -> None:
        self.api.delete("v1", "Node", name)
        # The machine is gone and its pods with it; the pod collector would take most of a minute to see that.
        for pod in self.api.list("v1", "Pod", fields=f"spec.nodeName={name}"):
            self.api.delete("v1", "Pod", pod["metadata"]["name"], pod["metadata"]["namespace"], grace_seconds=0)

    def _bind(self, grants: "list[tuple[str, str]]") -> None:
        for binding in namespace_bindings(grants):
            try:
                self.api.apply(binding)
            except KubeRefused as refusal:
                # The namespace does not exist yet: the right waits for it.
                if refusal.status != 404:
                    raise


class _Region:
    """What one region's EKS and EC2 say, asked once a look."""

    def __init__(self, endpoint: str, region: str) -> None:
        self.region = region
        self.eks = _client("eks", endpoint, region)
        self.ec2 = _client("ec2", endpoint, region)
        self.autoscaling = _client("autoscaling", endpoint, region)
        self.clusters: list[str] = self.eks.list_clusters()["clusters"]

    def nodes(self, version: str) -> Iterator[dict[str, Any]]:
        groups = {
            (cluster, name): self.eks.describe_nodegroup(clusterName=cluster, nodegroupName=name)["nodegroup"]
            for cluster in self.clusters
            for page in self.eks.get_paginator("list_nodegroups").paginate(clusterName=cluster)
            for name in page["nodegroups"]
        }
        members = {
            identifier: group
            for group in groups.values()
            if group["status"] != "DELETING"
            for identifier in self._members(group)
        }
        self._learn(list(members))
        for identifier, group in members.items():
            known = _SEEN.get(identifier)
            if known is None:
                continue
            instance, place = known
            yield render_node(
                {**instance, "_root_gib": self._root_gib(group)},
                group,
                _hardware(instance["InstanceType"]),
                region=self.region,
                network_nodes=place.get("NetworkNodes") or (),
                zone_id=place.get("ZoneId") or "",
                version=version,
            )

    def grants(self) -> "list[tuple[str, str]]":
        """Return the namespaced rights of the access entries as (policy, namespace)."""
        found = []
        for cluster in self.clusters:
            for principal in self.eks.list_access_entries(clusterName=cluster)["accessEntries"]:
                for each in self.eks.list_associated_access_policies(clusterName=cluster, principalArn=principal)[
                    "associatedAccessPolicies"
                ]:
                    scope = each.get("accessScope") or {}
                    if scope.get("type") == "namespace":
                        found += [(each["policyArn"], namespace) for namespace in scope.get("namespaces") or []]
        return found

    def _members(self, group: Mapping[str, Any]) -> list[str]:
        """Return the ids of a node group's instances: from its Auto Scaling group, which costs little to ask."""
        names = [each["name"] for each in (group.get("resources") or {}).get("autoScalingGroups", [])]
        if not names:
            return []
        found = self.autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=names)["AutoScalingGroups"]
        return [each["InstanceId"] for one in found for each in one["Instances"] if each["LifecycleState"] in _LIVING]

    def _learn(self, identifiers: list[str]) -> None:
        """Describe instances that are new: what a node shows of its instance never changes, and 17 interfaces each are long to tell."""
        new = [each for each in identifiers if each not in _SEEN]
        for start in range(0, len(new), PAGE):
            page = new[start : start + PAGE]
            places = self._topology(page)
            for reservation in self.ec2.describe_instances(InstanceIds=page)["Reservations"]:
                for instance in reservation["Instances"]:
                    if instance["State"]["Name"] in ("pending", "running"):
                        _SEEN[instance["InstanceId"]] = (instance, places.get(instance["InstanceId"], {}))
        for gone in set(_SEEN) - set(identifiers):
            if _SEEN[gone][0]["Placement"]["AvailabilityZone"].startswith(self.region):
                del _SEEN[gone]

    def _topology(self, identifiers: list[str]) -> dict[str, dict[str, Any]]:
        from botocore.exceptions import ClientError

        try:
            found = self.ec2.describe_instance_topology(InstanceIds=identifiers)["Instances"]
        except ClientError as refusal:
            print(f"no network topology: {refusal}", flush=True)
            return {}
        return {each["InstanceId"]: each for each in found}

    def _root_gib(self, group: Mapping[str, Any]) -> int:
        template = group.get("launchTemplate")
        if not template:
            return int(group.get("diskSize") or 20)
        return _root_of_template(self.ec2, template["id"], str(template.get("version") or "$Default"))


_SEEN: Final[dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {}
_HARDWARE: Final[dict[str, Any]] = {}
_TEMPLATES: Final[dict[tuple[str, str], int]] = {}


def _hardware(instance_type: str) -> Any:
    if instance_type not in _HARDWARE:
        _HARDWARE[instance_type] = hardware_of(instance_type)
    return _HARDWARE[instance_type]


def _root_of_template(ec2: Any, template: str, version: str) -> int:
    if (template, version) not in _TEMPLATES:
        data = ec2.describe_launch_template_versions(LaunchTemplateId=template, Versions=[version])[
            "LaunchTemplateVersions"
        ][0]["LaunchTemplateData"]
        devices = [device.get("Ebs") or {} for device in data.get("BlockDeviceMappings") or []]
        _TEMPLATES[template, version] = int(
            next((device["VolumeSize"] for device in devices if device.get("VolumeSize")), 20)
        )
    return _TEMPLATES[template, version]


@cache
def _client(service: str, endpoint: str, region: str) -> Any:
    import boto3
    from botocore.config import Config

    retries = Config(retries={"max_attempts": 8, "mode": "standard"})
    return boto3.client(
        service,
        region_name=region,
        endpoint_url=endpoint,
        aws_access_key_id="sandbox",
        aws_secret_access_key="sandbox",
        config=retries,
    )


def _instance(node: Mapping[str, Any]) -> str:
    return str(node["spec"].get("providerID", ""))


def _taint_set(taints: "list[dict[str, str]]") -> set[tuple[str, str, str]]:
    return {(taint["key"], taint.get("value", ""), taint["effect"]) for taint in taints}


def main(arguments: list[str] | None = None) -> int:
    """Watch until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--cloud", type=Path, required=True)
    options = parser.parse_args(arguments)
    NodeJoiner(KubeApi.from_kubeconfig(options.directory / "kubeconfig"), options.cloud).run()
    return 0


if __name__ == "__main__":
    sys.exit(main())
