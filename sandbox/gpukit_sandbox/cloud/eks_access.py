"""EKS access entries, access policies and pod identity associations: who may do what in a cluster."""

import re
from collections.abc import Mapping
from typing import Any, Final

from gpukit_sandbox.cloud.eks_clusters import bad, check_tags, find_cluster
from gpukit_sandbox.cloud.eks_nodegroups import key_of, shown
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.iam_lookup import find_role, trusts
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, arn, new_id

ENTRIES: Final = "eks-access-entries"
PODS: Final = "eks-pod-identities"
CALLER: Final = f"arn:aws:iam::{ACCOUNT_ID}:user/sandbox"
NODE_TYPES: Final = ("EC2_LINUX", "EC2_WINDOWS", "FARGATE_LINUX", "EC2", "HYBRID_LINUX", "HYPERPOD_LINUX")
_RESERVED: Final = ("system:", "eks:", "aws:", "amazon:", "iam:")
_PRINCIPAL: Final = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}):(role|user)/([\w+=,.@/-]+)")
_NAMESPACE: Final = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")
_ACCESS_DOC: Final = "EKS API reference, CreateAccessEntry and AssociateAccessPolicy; EKS User Guide, access entries"
ACCESS_POLICIES: Final = (
    "AmazonEKSAdminPolicy",
    "AmazonEKSClusterAdminPolicy",
    "AmazonEKSAdminViewPolicy",
    "AmazonEKSEditPolicy",
    "AmazonEKSViewPolicy",
    "AmazonEKSSecretReaderPolicy",
    "AmazonEKSAutoNodePolicy",
    "AmazonEKSBlockStoragePolicy",
    "AmazonEKSLoadBalancingPolicy",
    "AmazonEKSNetworkingPolicy",
    "AmazonEKSComputePolicy",
    "AmazonEKSBlockStorageClusterPolicy",
    "AmazonEKSComputeClusterPolicy",
    "AmazonEKSLoadBalancingClusterPolicy",
    "AmazonEKSNetworkingClusterPolicy",
    "AmazonEKSHybridPolicy",
    "AmazonEKSClusterInsightsPolicy",
    "AmazonEKSEventPolicy",
    "AmazonEKSACKPolicy",
    "AmazonEKSArgoCDPolicy",
    "AmazonEKSArgoCDClusterPolicy",
    "AmazonEKSKROPolicy",
    "AmazonSagemakerHyperpodClusterPolicy",
    "AmazonSagemakerHyperpodControllerPolicy",
)
_POLICY_PREFIX: Final = "arn:aws:eks::aws:cluster-access-policy/"
MAX_POLICIES: Final = 20


def add_creator_entry(call: ApiCall, cluster: Mapping[str, Any]) -> None:
    """Give whoever made a cluster the rights of an administrator, as EKS does unless told otherwise."""
    entry = _new_entry(call, cluster, CALLER, {})
    policy = _POLICY_PREFIX + "AmazonEKSClusterAdminPolicy"
    entry["_policies"][policy] = _association(call, policy, {"type": "cluster", "namespaces": []})


@rule("eks", "CreateAccessEntry", source=_ACCESS_DOC)
def access_entry_is_allowed(call: ApiCall) -> None:
    """The cluster knows entries, the principal is a role or user, names and groups are not reserved, node types stand alone."""
    params = call.params
    cluster = _cluster_with_entries(call)
    principal = params["principalArn"]
    match = _PRINCIPAL.fullmatch(principal)
    if match is None:
        raise bad("The principalArn parameter format is not valid")
    kind = params.get("type") or "STANDARD"
    if kind not in ("STANDARD", *NODE_TYPES):
        raise bad(f"The access entry type {kind} is not valid.")
    check_names(params.get("username"), params.get("kubernetesGroups"))
    check_tags(params.get("tags"))
    if kind != "STANDARD":
        if params.get("kubernetesGroups"):
            raise bad(f"The kubernetesGroups field cannot be specified with the type {kind}.")
        if params.get("username"):
            raise bad(f"The username field cannot be specified with the type {kind}.")
        if match.group(2) != "role" or match.group(1) != ACCOUNT_ID:
            raise bad(f"The principalArn of an entry of type {kind} must be a role of the cluster's account.")
    if "/aws-service-role/" in principal and kind == "STANDARD":
        raise bad(
            "The caller is not allowed to modify access entries with a principalArn value of a Service Linked Role"
        )
    if match.group(1) == ACCOUNT_ID and not _principal_exists(principal, match.group(2)):
        raise bad("The specified principalArn is invalid: invalid principal.")
    if match.group(2) == "user" and "{{SessionName}}" in str(params.get("username") or ""):
        raise bad("The username of an IAM user may not contain {{SessionName}}.")
    if key_of(cluster["name"], principal) in call.world.table(call.region, ENTRIES):
        raise AwsError(
            "ResourceInUseException", "The specified access entry resource is already in use on this cluster."
        )


@action("eks", "CreateAccessEntry")
def create_access_entry(call: ApiCall) -> dict[str, Any]:
    """Let a principal into a cluster."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    return {"accessEntry": shown(_new_entry(call, cluster, call.params["principalArn"], call.params))}


@action("eks", "DescribeAccessEntry")
def describe_access_entry(call: ApiCall) -> dict[str, Any]:
    """Return an entry."""
    return {"accessEntry": shown(_find_entry(call))}


@action("eks", "ListAccessEntries")
def list_access_entries(call: ApiCall) -> dict[str, Any]:
    """Return the principals of a cluster's entries."""
    cluster = _cluster_with_entries(call)
    policy = call.params.get("associatedPolicyArn")
    entries = [
        each for each in call.world.table(call.region, ENTRIES).values() if each["clusterName"] == cluster["name"]
    ]
    return {"accessEntries": [each["principalArn"] for each in entries if not policy or policy in each["_policies"]]}


@action("eks", "UpdateAccessEntry")
def update_access_entry(call: ApiCall) -> dict[str, Any]:
    """Change groups or user name of a STANDARD entry."""
    entry, params = _find_entry(call), call.params
    if entry["type"] != "STANDARD" and (params.get("kubernetesGroups") is not None or params.get("username")):
        raise bad(f"An access entry of type {entry['type']} cannot be updated.")
    check_names(params.get("username"), params.get("kubernetesGroups"))
    if params.get("kubernetesGroups") is not None:
        entry["kubernetesGroups"] = list(params["kubernetesGroups"])
    if params.get("username"):
        entry["username"] = params["username"]
    entry["modifiedAt"] = call.world.now()
    return {"accessEntry": shown(entry)}


@action("eks", "DeleteAccessEntry")
def delete_access_entry(call: ApiCall) -> dict[str, Any]:
    """Delete an entry with its policies."""
    entry = _find_entry(call)
    del call.world.table(call.region, ENTRIES)[key_of(entry["clusterName"], entry["principalArn"])]
    return {}


@rule("eks", "AssociateAccessPolicy", source=_ACCESS_DOC)
def access_policy_is_allowed(call: ApiCall) -> None:
    """A policy of EKS, a STANDARD entry, and namespaces exactly with the scope namespace."""
    params = call.params
    _cluster_with_entries(call)
    policy = params["policyArn"]
    if not policy.startswith(_POLICY_PREFIX) or policy.removeprefix(_POLICY_PREFIX) not in ACCESS_POLICIES:
        raise bad(f"The policyArn parameter format is not valid or the policy does not exist: {policy}")
    scope = params.get("accessScope") or {}
    namespaces = scope.get("namespaces") or []
    if scope.get("type") == "namespace" and not namespaces:
        raise bad("The namespaces field of the access scope must be given with the type namespace.")
    if scope.get("type") != "namespace" and namespaces:
        raise bad("The namespaces field of the access scope is valid only with the type namespace.")
    if not scope.get("type"):
        raise bad("The type of the access scope must be given.")
    for each in namespaces:
        if not re.fullmatch(r"[a-z0-9*]([a-z0-9*-]{0,61}[a-z0-9*])?", each):
            raise bad(f"The namespace {each} is not valid.")
    entry = _find_entry(call)
    if entry["type"] not in ("STANDARD", "EC2", "HYPERPOD_LINUX"):
        raise bad(f"Access policies cannot be associated with an access entry of type {entry['type']}.")
    if policy not in entry["_policies"] and len(entry["_policies"]) >= MAX_POLICIES:
        raise AwsError(
            "ResourceLimitExceededException", f"An access entry takes at most {MAX_POLICIES} access policies."
        )


@action("eks", "AssociateAccessPolicy")
def associate_access_policy(call: ApiCall) -> dict[str, Any]:
    """Give an entry a policy; again replaces its scope."""
    entry, policy = _find_entry(call), call.params["policyArn"]
    scope = {
        "type": call.params["accessScope"]["type"],
        "namespaces": list(call.params["accessScope"].get("namespaces") or []),
    }
    entry["_policies"][policy] = _association(call, policy, scope)
    return {
        "clusterName": entry["clusterName"],
        "principalArn": entry["principalArn"],
        "associatedAccessPolicy": entry["_policies"][policy],
    }


@action("eks", "DisassociateAccessPolicy")
def disassociate_access_policy(call: ApiCall) -> dict[str, Any]:
    """Take a policy away."""
    entry = _find_entry(call)
    if entry["_policies"].pop(call.params["policyArn"], None) is None:
        raise AwsError("ResourceNotFoundException", "The specified policy is not associated with the access entry.")
    return {}


@action("eks", "ListAssociatedAccessPolicies")
def list_associated_access_policies(call: ApiCall) -> dict[str, Any]:
    """Return the policies of an entry."""
    entry = _find_entry(call)
    return {
        "clusterName": entry["clusterName"],
        "principalArn": entry["principalArn"],
        "associatedAccessPolicies": list(entry["_policies"].values()),
    }


@action("eks", "ListAccessPolicies")
def list_access_policies(_call: ApiCall) -> dict[str, Any]:
    """Return EKS's access policies."""
    return {"accessPolicies": [{"name": each, "arn": _POLICY_PREFIX + each} for each in ACCESS_POLICIES]}


@rule(
    "eks",
    "CreatePodIdentityAssociation",
    source="EKS API reference, CreatePodIdentityAssociation; EKS User Guide, pod identity roles",
)
def pod_identity_is_allowed(call: ApiCall) -> None:
    """A namespace, a service account, a role of this account that pods.eks.amazonaws.com may assume, one association each."""
    params = call.params
    cluster = find_cluster(call.world, call.region, params["clusterName"])
    if not _NAMESPACE.fullmatch(params["namespace"]):
        raise bad(f"The namespace {params['namespace']} is not valid.")
    if not re.fullmatch(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", params["serviceAccount"]):
        raise bad(f"The service account {params['serviceAccount']} is not valid.")
    check_pod_role(params["roleArn"])
    check_tags(params.get("tags"))
    for each in call.world.table(call.region, PODS).values():
        if (each["clusterName"], each["namespace"], each["serviceAccount"]) == (
            cluster["name"],
            params["namespace"],
            params["serviceAccount"],
        ):
            raise AwsError("ResourceInUseException", f"Association already exists: {each['associationId']}")


@action("eks", "CreatePodIdentityAssociation")
def create_pod_identity_association(call: ApiCall) -> dict[str, Any]:
    """Give a service account a role."""
    params = call.params
    identifier = new_id("a")
    record = {
        "clusterName": params["clusterName"],
        "namespace": params["namespace"],
        "serviceAccount": params["serviceAccount"],
        "roleArn": params["roleArn"],
        "associationArn": arn("eks", call.region, f"podidentityassociation/{params['clusterName']}/{identifier}"),
        "associationId": identifier,
        "tags": dict(params.get("tags") or {}),
        "createdAt": call.world.now(),
        "modifiedAt": call.world.now(),
        "disableSessionTags": bool(params.get("disableSessionTags")),
        "targetRoleArn": params.get("targetRoleArn"),
        "externalId": new_id("x", 32)[2:] if params.get("targetRoleArn") else None,
    }
    call.world.table(call.region, PODS)[key_of(params["clusterName"], identifier)] = record
    return {"association": shown(record)}


@action("eks", "DescribePodIdentityAssociation")
def describe_pod_identity_association(call: ApiCall) -> dict[str, Any]:
    """Return an association."""
    return {"association": shown(_find_pod(call))}


@action("eks", "ListPodIdentityAssociations")
def list_pod_identity_associations(call: ApiCall) -> dict[str, Any]:
    """Return the associations of a cluster."""
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    found = [
        each
        for each in call.world.table(call.region, PODS).values()
        if each["clusterName"] == cluster["name"]
        and call.params.get("namespace") in (None, each["namespace"])
        and call.params.get("serviceAccount") in (None, each["serviceAccount"])
    ]
    return {
        "associations": [
            {
                key: each[key]
                for key in ("clusterName", "namespace", "serviceAccount", "associationArn", "associationId")
            }
            for each in found
        ]
    }


@action("eks", "UpdatePodIdentityAssociation")
def update_pod_identity_association(call: ApiCall) -> dict[str, Any]:
    """Change the role of an association."""
    record = _find_pod(call)
    if call.params.get("roleArn"):
        check_pod_role(call.params["roleArn"])
        record["roleArn"] = call.params["roleArn"]
    if call.params.get("targetRoleArn") is not None:
        record["targetRoleArn"] = call.params["targetRoleArn"]
    if call.params.get("disableSessionTags") is not None:
        record["disableSessionTags"] = call.params["disableSessionTags"]
    record["modifiedAt"] = call.world.now()
    return {"association": shown(record)}


@action("eks", "DeletePodIdentityAssociation")
def delete_pod_identity_association(call: ApiCall) -> dict[str, Any]:
    """Delete an association."""
    record = _find_pod(call)
    del call.world.table(call.region, PODS)[key_of(record["clusterName"], record["associationId"])]
    return {"association": shown(record)}


def check_names(username: str | None, groups: list[str] | None) -> None:
    """Refuse user and group names that Kubernetes or AWS keep for themselves."""
    if username and username.startswith(_RESERVED):
        raise bad(f"The username must not begin with {', '.join(_RESERVED)}")
    if username and "{{SessionName}}" in username and ":" not in username.split("{{SessionName}}")[0]:
        raise bad("The username must contain a colon before {{SessionName}}.")
    for each in groups or ():
        if not each or each.startswith(_RESERVED):
            raise bad(f"The kubernetes group name {each} is invalid: it must not start with {', '.join(_RESERVED)}")


def check_pod_role(role_arn: str) -> None:
    """Refuse a role of another account, an absent one, and one that pods may not assume."""
    match = _PRINCIPAL.fullmatch(role_arn)
    if match is None or match.group(2) != "role":
        raise bad(f"The role ARN {role_arn} is not valid.")
    if match.group(1) != ACCOUNT_ID:
        raise bad("The role of a pod identity association must be in the cluster's account.")
    role = find_role(role_arn)
    if role is None:
        raise bad("Role provided in the request does not exist.")
    if not trusts(role, "pods.eks.amazonaws.com"):
        raise bad("Trust policy of the role provided in the request must trust pods.eks.amazonaws.com.")


def _cluster_with_entries(call: ApiCall) -> dict[str, Any]:
    cluster = find_cluster(call.world, call.region, call.params["clusterName"])
    if cluster["accessConfig"]["authenticationMode"] == "CONFIG_MAP":
        raise AwsError(
            "InvalidRequestException",
            "The cluster's authentication mode must be set to one of [API, API_AND_CONFIG_MAP] to perform this operation.",
        )
    return cluster


def _find_entry(call: ApiCall) -> dict[str, Any]:
    cluster = _cluster_with_entries(call)
    found: dict[str, Any] | None = call.world.table(call.region, ENTRIES).get(
        key_of(cluster["name"], call.params["principalArn"])
    )
    if found is None:
        raise AwsError(
            "ResourceNotFoundException",
            f"The specified principalArn could not be found. You can view your available access entries with 'list-access-entries'. ({call.params['principalArn']})",
        )
    return found


def _find_pod(call: ApiCall) -> dict[str, Any]:
    find_cluster(call.world, call.region, call.params["clusterName"])
    found: dict[str, Any] | None = call.world.table(call.region, PODS).get(
        key_of(call.params["clusterName"], call.params["associationId"])
    )
    if found is None:
        raise AwsError("ResourceNotFoundException", f"Association does not exist: {call.params['associationId']}")
    return found


def _principal_exists(principal: str, kind: str) -> bool:
    if kind == "role":
        return find_role(principal) is not None
    from moto.backends import get_backend

    users = get_backend("iam")[ACCOUNT_ID]["aws"].users.values()
    return principal == CALLER or any(each.arn == principal for each in users)


def _new_entry(call: ApiCall, cluster: Mapping[str, Any], principal: str, params: Mapping[str, Any]) -> dict[str, Any]:
    kind = params.get("type") or "STANDARD"
    match = _PRINCIPAL.fullmatch(principal)
    what, name = (match.group(2), match.group(3)) if match else ("user", "unknown")
    groups = list(params.get("kubernetesGroups") or [])
    if kind in ("EC2_LINUX", "EC2_WINDOWS", "EC2"):
        groups, username = ["system:nodes"], "system:node:{{EC2PrivateDNSName}}"
    elif what == "role":
        account = match.group(1) if match else ACCOUNT_ID
        username = (
            params.get("username")
            or f"arn:aws:sts::{account}:assumed-role/{name.rsplit('/', 1)[-1]}/{{{{SessionName}}}}"
        )
    else:
        username = params.get("username") or principal
    entry: dict[str, Any] = {
        "clusterName": cluster["name"],
        "principalArn": principal,
        "kubernetesGroups": groups,
        "accessEntryArn": arn(
            "eks", call.region, f"access-entry/{cluster['name']}/{what}/{ACCOUNT_ID}/{name}/{new_id('e', 32)[2:]}"
        ),
        "createdAt": call.world.now(),
        "modifiedAt": call.world.now(),
        "tags": dict(params.get("tags") or {}),
        "username": username,
        "type": kind,
        "_policies": {},
    }
    call.world.table(call.region, ENTRIES)[key_of(cluster["name"], principal)] = entry
    return entry


def _association(call: ApiCall, policy: str, scope: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "policyArn": policy,
        "accessScope": dict(scope),
        "associatedAt": call.world.now(),
        "modifiedAt": call.world.now(),
    }
