"""EKS add-ons: which there are, what version looks like one, and configuration that has to be JSON or YAML."""

import csv
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, Final

import yaml

from gpukit.catalog import DATA
from gpukit_sandbox.cloud.eks_access import PODS, check_pod_role
from gpukit_sandbox.cloud.eks_clusters import bad, begin, check_tags, find_cluster, require_active, settle
from gpukit_sandbox.cloud.eks_nodegroups import key_of, note_update, shown
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.iam_lookup import ROLE_ARN, find_role
from gpukit_sandbox.cloud.images import KUBERNETES_VERSIONS
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, arn, new_id

KIND: Final = "eks-addons"
_VERSION: Final = re.compile(r"v\d+\.\d+\.\d+(-[a-z0-9.]+)?-eksbuild\.\d+")
_ADDON_DOC: Final = "EKS API reference, CreateAddon; EKS User Guide, Amazon EKS add-ons"

ADDONS: Final[Mapping[str, str]] = {
    # Name -> newest version offered here. Versions from the catalogue's pins where it has them, else from memory of the release pages.
    "vpc-cni": "v1.22.1-eksbuild.1",
    "coredns": "v1.12.4-eksbuild.1",
    "kube-proxy": "",
    "eks-pod-identity-agent": "v1.3.10-eksbuild.1",
    "aws-ebs-csi-driver": "v1.55.0-eksbuild.1",
    "aws-efs-csi-driver": "v2.3.0-eksbuild.1",
    "aws-fsx-csi-driver": "v1.8.0-eksbuild.1",
    "aws-mountpoint-s3-csi-driver": "v2.7.0-eksbuild.1",
    "snapshot-controller": "v8.3.0-eksbuild.1",
    "eks-node-monitoring-agent": "v1.5.0-eksbuild.1",
    "amazon-cloudwatch-observability": "v4.7.0-eksbuild.1",
    "metrics-server": "v0.8.0-eksbuild.5",
    "cert-manager": "v1.19.1-eksbuild.1",
    "kube-state-metrics": "v2.17.0-eksbuild.4",
    "prometheus-node-exporter": "v1.10.2-eksbuild.2",
    "external-dns": "v0.19.0-eksbuild.3",
    "aws-guardduty-agent": "v1.12.1-eksbuild.2",
    "adot": "v0.131.0-eksbuild.1",
    "aws-network-flow-monitoring-agent": "v1.1.0-eksbuild.1",
    "amazon-sagemaker-hyperpod-taskgovernance": "v1.3.0-eksbuild.1",
    "amazon-sagemaker-hyperpod-training-operator": "v1.2.0-eksbuild.1",
}


@cache
def _pinned_versions() -> dict[tuple[str, str], str]:
    """Return the catalogue's pins: (add-on, Kubernetes version) -> version."""
    table = DATA / "eks_addons.csv"
    if not table.is_file():
        return {}
    with table.open(encoding="utf-8", newline="") as source:
        return {
            (row["addon"], row["kubernetes_version"]): row["addon_version"]
            for row in csv.DictReader(source)
            if row["addon_version"]
        }


def default_version(name: str, kubernetes: str) -> str:
    """Return the newest version of an add-on for a Kubernetes version: the catalogue's pin, else the list's."""
    return _pinned_versions().get((name, kubernetes)) or ADDONS[name] or f"v{kubernetes}.0-eksbuild.2"


@rule("eks", "CreateAddon", source=_ADDON_DOC)
def addon_is_new(call: ApiCall) -> None:
    """An add-on that exists and is not installed, on an ACTIVE cluster."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    require_active(cluster)
    name = call.params["addonName"]
    check_addon(name, call.params.get("addonVersion"), cluster["version"])
    if key_of(cluster["name"], name) in call.world.table(call.region, KIND):
        raise AwsError(
            "ResourceInUseException",
            "Addon already exists.",
            fields={"clusterName": cluster["name"], "addonName": name},
        )
    check_tags(call.params.get("tags"))


@rule("eks", "CreateAddon", "UpdateAddon", source=_ADDON_DOC)
def addon_settings_are_valid(call: ApiCall) -> None:
    """Configuration that parses to a mapping, a role that exists, pod identities that could be."""
    params = call.params
    text = params.get("configurationValues")
    if text:
        try:
            values = json.loads(text) if text.lstrip().startswith("{") else yaml.safe_load(text)
        except (json.JSONDecodeError, yaml.YAMLError) as problem:
            raise bad("ConfigurationValue provided in request is not valid JSON or YAML") from problem
        if values is not None and not isinstance(values, dict):
            raise bad("ConfigurationValue provided in request is not a JSON or YAML object")
    role = params.get("serviceAccountRoleArn")
    if role:
        match = ROLE_ARN.fullmatch(role)
        if match is None or (match.group(1) == ACCOUNT_ID and find_role(role) is None):
            raise bad(f"The service account role {role} does not exist.")
    for each in params.get("podIdentityAssociations") or []:
        check_pod_role(each["roleArn"])


@action("eks", "CreateAddon")
def create_addon(call: ApiCall) -> dict[str, Any]:
    """Install an add-on."""
    params = call.params
    cluster = find_cluster(call.world, call.region, params["clusterName"])
    name = params["addonName"]
    record: dict[str, Any] = {
        "addonName": name,
        "clusterName": cluster["name"],
        "addonVersion": params.get("addonVersion") or default_version(name, cluster["version"]),
        "health": {"issues": []},
        "addonArn": arn("eks", call.region, f"addon/{cluster['name']}/{name}/{new_id('a', 32)[2:]}"),
        "createdAt": call.world.now(),
        "modifiedAt": call.world.now(),
        "serviceAccountRoleArn": params.get("serviceAccountRoleArn"),
        "tags": dict(params.get("tags") or {}),
        "publisher": "eks",
        "owner": "aws",
        "configurationValues": params.get("configurationValues"),
        "namespaceConfig": params.get("namespaceConfig") or {"namespace": "kube-system"},
        "podIdentityAssociations": _associate(call, cluster["name"], params.get("podIdentityAssociations")),
    }
    begin(call, record, "CREATING", "ACTIVE")
    call.world.table(call.region, KIND)[key_of(cluster["name"], name)] = record
    return {"addon": shown(record)}


@action("eks", "DescribeAddon")
def describe_addon(call: ApiCall) -> dict[str, Any]:
    """Return an add-on of a cluster."""
    return {"addon": shown(_find(call))}


@action("eks", "ListAddons")
def list_addons(call: ApiCall) -> dict[str, Any]:
    """Return the names of a cluster's add-ons."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    return {
        "addons": sorted(
            each["addonName"]
            for each in call.world.table(call.region, KIND).values()
            if each["clusterName"] == cluster["name"]
        )
    }


@action("eks", "UpdateAddon")
def update_addon(call: ApiCall) -> dict[str, Any]:
    """Change version, configuration or role of an add-on."""
    record, params = _find(call), call.params
    cluster = find_cluster(call.world, call.region, params["clusterName"])
    check_addon(record["addonName"], params.get("addonVersion"), cluster["version"])
    changes: list[tuple[str, Any]] = []
    for key, label in (
        ("addonVersion", "AddonVersion"),
        ("serviceAccountRoleArn", "ServiceAccountRoleArn"),
        ("configurationValues", "ConfigurationValues"),
    ):
        if params.get(key) is not None:
            record[key] = params[key] or None
            changes.append((label, params[key]))
    if params.get("podIdentityAssociations") is not None:
        record["podIdentityAssociations"] = _associate(call, cluster["name"], params["podIdentityAssociations"])
    record["modifiedAt"] = call.world.now()
    return {"update": note_update(call, cluster["name"], "AddonUpdate", changes, addon=record["addonName"])}


@action("eks", "DeleteAddon")
def delete_addon(call: ApiCall) -> dict[str, Any]:
    """Take an add-on off."""
    record = _find(call)
    for each in record["podIdentityAssociations"]:
        call.world.table(call.region, PODS).pop(key_of(record["clusterName"], each.rsplit("/", 1)[-1]), None)
    del call.world.table(call.region, KIND)[key_of(record["clusterName"], record["addonName"])]
    return {"addon": {**shown(record), "status": "DELETING"}}


@action("eks", "DescribeAddonVersions")
def describe_addon_versions(call: ApiCall) -> dict[str, Any]:
    """Return the add-ons and versions that EKS offers."""
    wanted, kubernetes = call.params.get("addonName"), call.params.get("kubernetesVersion")
    if wanted is not None and wanted not in ADDONS:
        return {"addons": []}
    found = []
    for name in ADDONS:
        if wanted not in (None, name):
            continue
        versions: dict[str, list[str]] = {}
        for each in KUBERNETES_VERSIONS:
            if kubernetes in (None, each):
                versions.setdefault(default_version(name, each), []).append(each)
        found.append(
            {
                "addonName": name,
                "type": "networking"
                if name in ("vpc-cni", "coredns", "kube-proxy")
                else "storage"
                if "csi" in name
                else "observability",
                "publisher": "eks",
                "owner": "aws",
                "addonVersions": [
                    {
                        "addonVersion": version,
                        "architecture": ["amd64", "arm64"],
                        "compatibilities": [
                            {"clusterVersion": each, "platformVersions": ["*"], "defaultVersion": True}
                            for each in compatible
                        ],
                        "requiresConfiguration": False,
                    }
                    for version, compatible in versions.items()
                ],
            }
        )
    return {"addons": found}


def check_addon(name: str, version: str | None, kubernetes: str) -> None:
    """Refuse an add-on that does not exist and a version that is none; kube-proxy follows the cluster's minor version."""
    if name not in ADDONS:
        raise bad(f"Addon {name} specified is not supported in {kubernetes} kubernetes version")
    if version is None:
        return
    if not _VERSION.fullmatch(version):
        raise bad(
            f"Addon version specified is not supported: {version} (versions look like {default_version(name, kubernetes)})"
        )
    if name == "kube-proxy":
        ahead = int(version.split(".")[1]) - int(kubernetes.split(".")[1])
        if ahead > 0:
            raise bad(f"Addon version specified is not supported: {version} is ahead of Kubernetes {kubernetes}")


def _find(call: ApiCall) -> dict[str, Any]:
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    name = call.params["addonName"]
    found: dict[str, Any] | None = call.world.table(call.region, KIND).get(key_of(cluster["name"], name))
    if found is None:
        raise AwsError(
            "ResourceNotFoundException",
            f"No addon: {name} found in cluster: {cluster['name']}",
            fields={"clusterName": cluster["name"], "addonName": name},
        )
    settle(call.world, found)
    return found


def _associate(call: ApiCall, cluster: str, wanted: Any) -> list[str]:
    arns = []
    for each in wanted or []:
        identifier = new_id("a")
        record = {
            "clusterName": cluster,
            "namespace": "kube-system",
            "serviceAccount": each["serviceAccount"],
            "roleArn": each["roleArn"],
            "associationArn": arn("eks", call.region, f"podidentityassociation/{cluster}/{identifier}"),
            "associationId": identifier,
            "tags": {},
            "createdAt": call.world.now(),
            "modifiedAt": call.world.now(),
        }
        call.world.table(call.region, PODS)[key_of(cluster, identifier)] = record
        arns.append(record["associationArn"])
    return arns
