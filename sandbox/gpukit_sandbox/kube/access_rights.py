"""
EKS access policies as RBAC: each policy is a group, bound to the role that allows what the policy allows.

EKS judges its policies in an authorizer of its own; the groups here make RBAC say the same. Source: EKS User Guide, "Review access policy permissions",
2026-08 (cluster admin: everything; admin, edit, view: as the built-in roles of the same names).
"""

import re
from collections.abc import Iterable
from typing import Any, Final

GROUP_PREFIX: Final = "eks-access"
ROLES: Final = {
    "AmazonEKSClusterAdminPolicy": "cluster-admin",
    "AmazonEKSAdminPolicy": "admin",
    "AmazonEKSEditPolicy": "edit",
    "AmazonEKSViewPolicy": "view",
}
"""Access policy -> built-in role; another policy gives no right here."""
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9-]+")


def group_of(policy_arn: str, namespace: str = "") -> str:
    """Return the group of a policy, for one namespace or for the cluster."""
    policy = policy_arn.rsplit("/", 1)[-1]
    return f"{GROUP_PREFIX}:{policy}:{namespace}" if namespace else f"{GROUP_PREFIX}:{policy}"


def cluster_bindings() -> "list[dict[str, Any]]":
    """Return the bindings of the policies that hold for the whole cluster."""
    return [
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": f"{GROUP_PREFIX}-{role}"},
            "roleRef": _role(role),
            "subjects": [_group(group_of(policy))],
        }
        for policy, role in ROLES.items()
    ]


def namespace_bindings(grants: Iterable[tuple[str, str]]) -> "list[dict[str, Any]]":
    """Return the bindings of (policy ARN, namespace) pairs, without repetition."""
    found: list[dict[str, Any]] = []
    for policy_arn, namespace in sorted(set(grants)):
        role = ROLES.get(policy_arn.rsplit("/", 1)[-1])
        if role is not None:
            found.append(
                {
                    "apiVersion": "rbac.authorization.k8s.io/v1",
                    "kind": "RoleBinding",
                    "metadata": {"name": _NOT_IN_NAMES.sub("-", f"{GROUP_PREFIX}-{role}"), "namespace": namespace},
                    "roleRef": _role(role),
                    "subjects": [_group(group_of(policy_arn, namespace))],
                }
            )
    return found


def _role(name: str) -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}


def _group(name: str) -> dict[str, str]:
    return {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": name}
