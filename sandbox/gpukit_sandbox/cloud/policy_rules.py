"""Rules on IAM policies and key policies that moto does not have: service principals, sizes without white space, lock-out."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from moto.backends import get_backend

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.quotas import quota
from gpukit_sandbox.cloud.registry import rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

MANAGED_POLICY_CHARACTERS: Final = 6_144
TRUST_POLICY_CHARACTERS: Final = 2_048
INLINE_CHARACTERS: Final = {"PutRolePolicy": 10_240, "PutUserPolicy": 2_048, "PutGroupPolicy": 5_120}
_IAM_DOC: Final = "IAM User Guide, IAM and STS quotas; IAM JSON policy elements: Principal"
_SERVICE: Final = re.compile(r"([a-z0-9-]+(?:\.[a-z0-9-]+)*)\.amazonaws\.com(\.cn)?")
_MORE_SERVICES: Final = frozenset(
    # Principals whose last label is no endpoint prefix of botocore. Source: IAM User Guide and the services' own guides.
    [
        "amplify",
        "apidestinations",
        "application-autoscaling",
        "autoscaling",
        "aws-artifact",
        "backup-gateway",
        "billingconductor",
        "budgets",
        "chatbot",
        "cloudtrail",
        "codedeploy",
        "config",
        "costalerts",
        "costoptimizationhub",
        "datapipeline",
        "delivery",
        "directconnect",
        "discovery",
        "dlm",
        "ecs-tasks",
        "edgelambda",
        "eks-fargate",
        "eks-fargate-pods",
        "eks-nodegroup",
        "elasticmapreduce",
        "events",
        "export",
        "fis",
        "fms",
        "guardduty",
        "health",
        "imagebuilder",
        "imageexport",
        "inspector2",
        "lambda",
        "license-manager",
        "logs",
        "macie",
        "monitoring",
        "network-firewall",
        "opensearchservice",
        "ops",
        "organizations",
        "osis",
        "pods",
        "quicksight",
        "reachabilityanalyzer",
        "resource-explorer-2",
        "s3",
        "sagemaker",
        "scheduler",
        "securityhub",
        "serverlessrepo",
        "ses",
        "shield",
        "spot",
        "spotfleet",
        "ssm",
        "ssm-incidents",
        "sso",
        "states",
        "storagegateway",
        "streams",
        "support",
        "textract",
        "transcribe",
        "transitgateway",
        "trustedadvisor",
        "vmie",
        "vpc-flow-logs",
        "vpc-lattice",
        "wafv2",
        "worklink",
        "workspaces",
        "replication",
        "networkmanager",
        "malware-protection-plan",
        "infrastructure",
        "ec2-capacity-reservations",
        "ec2.application-autoscaling",
        "eks-pods",
    ]
)


@rule("iam", "CreatePolicy", "CreatePolicyVersion", source=_IAM_DOC)
def managed_policy_is_not_too_long(call: ApiCall) -> None:
    """6,144 characters, white space not counted."""
    _check_size(call.params.get("PolicyDocument", ""), MANAGED_POLICY_CHARACTERS, "PolicySize")


@rule("iam", "CreatePolicy", "CreatePolicyVersion", "PutRolePolicy", "PutUserPolicy", "PutGroupPolicy", source=_IAM_DOC)
def identity_policy_has_no_principal(call: ApiCall) -> None:
    """A policy of an identity names no principal, and is JSON."""
    for statement in statements(call.params.get("PolicyDocument", "")):
        if "Principal" in statement or "NotPrincipal" in statement:
            raise AwsError("MalformedPolicyDocument", "Policy document should not specify a principal.")


@rule(
    "iam",
    "CreatePolicy",
    "CreatePolicyVersion",
    "PutRolePolicy",
    "PutUserPolicy",
    "PutGroupPolicy",
    source="IAM User Guide, IAM JSON policy elements: Sid; Grammar of the IAM JSON policy language: sid_string",
)
def statement_id_is_alphanumeric(call: ApiCall) -> None:
    """A Sid of an identity's policy is of letters and digits; key and bucket policies take more."""
    for statement in statements(call.params.get("PolicyDocument", "")):
        if not re.fullmatch(r"[0-9A-Za-z]*", str(statement.get("Sid", ""))):
            raise AwsError(
                "MalformedPolicyDocument",
                "Statement IDs (SID) must be alphanumeric. Check that your input satisfies the regular expression [0-9A-Za-z]*",
            )


@rule("iam", "PutRolePolicy", "PutUserPolicy", "PutGroupPolicy", source=_IAM_DOC)
def inline_policies_are_not_too_long(call: ApiCall) -> None:
    """All inline policies of an identity together have a limit."""
    most = INLINE_CHARACTERS[call.operation]
    others = 0
    if call.operation == "PutRolePolicy":
        for role in get_backend("iam")[ACCOUNT_ID]["aws"].roles.values():
            if role.name == call.params.get("RoleName"):
                others = sum(
                    _characters(str(text))
                    for name, text in role.policies.items()
                    if name != call.params.get("PolicyName")
                )
    if others + _characters(call.params.get("PolicyDocument", "")) > most:
        raise AwsError("LimitExceeded", f"Maximum policy size of {most} bytes exceeded")


@rule("iam", "CreateRole", "UpdateAssumeRolePolicy", source=_IAM_DOC)
def trust_policy_names_who_exists(call: ApiCall) -> None:
    """Principals that are services, accounts, or roles and users that exist; STS actions; no resource; 2,048 characters."""
    text = call.params.get("AssumeRolePolicyDocument") or call.params.get("PolicyDocument") or ""
    _check_size(text, TRUST_POLICY_CHARACTERS, "ACLSizePerRole")
    for statement in statements(text):
        if "Resource" in statement or "NotResource" in statement:
            raise AwsError("MalformedPolicyDocument", "Has prohibited field Resource")
        principal = statement.get("Principal", statement.get("NotPrincipal"))
        if principal is None:
            raise AwsError("MalformedPolicyDocument", "Missing required field Principal")
        _check_principal(principal)
        actions = statement.get("Action", [])
        for each in [actions] if isinstance(actions, str) else actions:
            if not str(each).lower().startswith("sts:") and each != "*":
                raise AwsError("MalformedPolicyDocument", "AssumeRole policy may only specify STS AssumeRole actions.")


@rule("iam", "AttachRolePolicy", source="IAM User Guide, quotas: managed policies attached to a role")
def role_takes_another_policy(call: ApiCall) -> None:
    """Ten managed policies a role unless raised."""
    for role in get_backend("iam")[ACCOUNT_ID]["aws"].roles.values():
        if role.name == call.params.get("RoleName"):
            attached = role.managed_policies
            if call.params.get("PolicyArn") not in attached and len(attached) >= quota(
                call.world, "us-east-1", "iam", "policies-per-role"
            ):
                raise AwsError("LimitExceeded", "Cannot exceed quota for PoliciesPerRole: 10")


@rule("iam", "DeletePolicy", source="IAM API reference, DeletePolicy; error code DeleteConflict")
def policy_is_detached(call: ApiCall) -> None:
    """A policy in use, or with more versions than its default one, stays."""
    backend = get_backend("iam")[ACCOUNT_ID]["aws"]
    wanted = call.params.get("PolicyArn")
    policy = backend.managed_policies.get(wanted)
    holders = [*backend.roles.values(), *backend.users.values(), *backend.groups.values()]
    if policy is not None and any(wanted in each.managed_policies for each in holders):
        raise AwsError("DeleteConflict", "Cannot delete a policy attached to entities.")
    if policy is not None and len(policy.versions) > 1:
        raise AwsError(
            "DeleteConflict",
            "This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy.",
        )


@rule("iam", "CreateRole", source="IAM User Guide, quotas: roles in an account")
def account_takes_another_role(call: ApiCall) -> None:
    """A thousand roles unless raised."""
    if len(get_backend("iam")[ACCOUNT_ID]["aws"].roles) >= quota(call.world, "us-east-1", "iam", "roles"):
        raise AwsError("LimitExceeded", "Cannot exceed quota for RolesPerAccount: 1000")


@rule(
    "kms",
    "CreateKey",
    "PutKeyPolicy",
    source="KMS Developer Guide, key policies: the lockout safety check; API reference, BypassPolicyLockoutSafetyCheck",
)
def key_policy_keeps_the_caller_in(call: ApiCall) -> None:
    """A key policy that would not let its maker put the next one is refused, and so is one without principals that exist."""
    text = call.params.get("Policy")
    if not text:
        return
    found = list(statements(text, code="MalformedPolicyDocumentException"))
    for statement in found:
        principal = statement.get("Principal")
        if principal is None and "NotPrincipal" not in statement:
            raise AwsError("MalformedPolicyDocumentException", "Policy contains a statement with no principal.")
        if principal is not None:
            _check_principal(principal, code="MalformedPolicyDocumentException")
    if call.params.get("BypassPolicyLockoutSafetyCheck"):
        return
    if not any(_keeps_caller(statement) for statement in found):
        raise AwsError(
            "MalformedPolicyDocumentException",
            "The new key policy will not allow you to update the key policy in the future.",
        )


def statements(text: str, *, code: str = "MalformedPolicyDocument") -> Iterator[Mapping[str, Any]]:
    """Yield the statements of a policy. Raises AwsError with `code` for text that is no policy."""
    try:
        document = json.loads(text)
    except json.JSONDecodeError as problem:
        raise AwsError(code, "Syntax errors in policy.") from problem
    if not isinstance(document, dict):
        raise AwsError(code, "Syntax errors in policy.")
    found = document.get("Statement", [])
    for each in found if isinstance(found, list) else [found]:
        if not isinstance(each, dict):
            raise AwsError(code, "Syntax errors in policy.")
        yield each


def _check_size(text: str, most: int, name: str) -> None:
    if _characters(text) > most:
        raise AwsError("LimitExceeded", f"Cannot exceed quota for {name}: {most}")


def _characters(text: str) -> int:
    # IAM does not count white space. Source: IAM User Guide, quotas, "IAM doesn't count white space".
    return len(re.sub(r"\s", "", text))


def _check_principal(principal: Any, *, code: str = "MalformedPolicyDocument") -> None:
    if principal == "*":
        return
    if not isinstance(principal, dict) or not principal:
        raise AwsError(code, f"Invalid principal in policy: {principal}")
    for kind, names in principal.items():
        for name in [names] if isinstance(names, str) else names:
            if kind == "Service":
                if not is_service_principal(name):
                    raise AwsError(code, f'Invalid principal in policy: "SERVICE":"{name}"')
            elif kind == "AWS":
                if not _aws_principal_exists(name):
                    raise AwsError(code, f'Invalid principal in policy: "AWS":"{name}"')
            elif kind not in ("Federated", "CanonicalUser"):
                raise AwsError(code, f"Invalid principal in policy: {kind}")


def is_service_principal(name: str) -> bool:
    """Tell whether a name is one of a service: `ec2.amazonaws.com`, with a Region in it or not."""
    match = _SERVICE.fullmatch(name)
    if match is None:
        return False
    labels = [each for each in match.group(1).split(".") if not re.fullmatch(r"[a-z]{2}(-[a-z]+)+-\d", each)]
    return bool(labels) and (labels[-1] in service_names() or labels[0] in service_names())


@cache
def service_names() -> frozenset[str]:
    """Return the labels that services have in principals and endpoints."""
    import botocore.session

    session = botocore.session.get_session()
    prefixes = set(session.get_available_services())
    endpoints = session.get_component("endpoint_resolver")._endpoint_data["partitions"][0]["services"]
    for name in endpoints:
        prefixes.update(name.split("."))
    return frozenset(prefixes) | _MORE_SERVICES


def _aws_principal_exists(name: str) -> bool:
    if name == "*" or re.fullmatch(r"\d{12}", name):
        return True
    match = re.fullmatch(
        r"arn:aws[a-z-]*:(iam|sts)::(\d{12}):(root|(user|role|group|assumed-role|federated-user)/.+)", name
    )
    if match is None:
        # The unique ids that AWS puts in place of principals that are gone.
        return re.fullmatch(r"A(IDA|ROA)[A-Z0-9]{12,}", name) is not None
    if match.group(2) != ACCOUNT_ID or match.group(1) == "sts" or match.group(3) == "root":
        return match.group(4) != "group"
    backend = get_backend("iam")[ACCOUNT_ID]["aws"]
    if match.group(4) == "role":
        return "/aws-service-role/" in name or any(role.arn == name for role in backend.roles.values())
    return name == f"arn:aws:iam::{ACCOUNT_ID}:user/sandbox" or any(user.arn == name for user in backend.users.values())


def _keeps_caller(statement: Mapping[str, Any]) -> bool:
    if statement.get("Effect") != "Allow":
        return False
    principal = statement.get("Principal")
    names = principal.get("AWS", []) if isinstance(principal, dict) else [principal]
    ours = {"*", ACCOUNT_ID, f"arn:aws:iam::{ACCOUNT_ID}:root", f"arn:aws:iam::{ACCOUNT_ID}:user/sandbox"}
    if not ours & set([names] if isinstance(names, str) else names):
        return False
    actions = statement.get("Action", [])
    return any(
        re.fullmatch(re.escape(str(each)).replace(r"\*", ".*").replace(r"\?", "."), "kms:PutKeyPolicy", re.IGNORECASE)
        for each in ([actions] if isinstance(actions, str) else actions)
    )
