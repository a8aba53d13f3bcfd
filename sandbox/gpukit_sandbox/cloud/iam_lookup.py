"""Roles as other services look at them: do they exist, and may the service assume them."""

import json
import re
from typing import Any, Final
from urllib.parse import unquote

from moto.backends import get_backend

from gpukit_sandbox.cloud.state import ACCOUNT_ID

ROLE_ARN: Final = re.compile(r"arn:aws[a-z-]*:iam::(\d{12}):role/([\w+=,.@/-]+)")


def find_role(role_arn: str) -> Any:
    """Return the role of the sandbox's account with that ARN; None without one."""
    for role in get_backend("iam")[ACCOUNT_ID]["aws"].roles.values():
        if role.arn == role_arn:
            return role
    return None


def trusts(role: Any, service: str) -> bool:
    """Tell whether a role's trust policy lets a service principal in."""
    document = role.assume_role_policy_document
    if isinstance(document, str):
        try:
            document = json.loads(unquote(document))
        except json.JSONDecodeError:
            return False
    statements = document.get("Statement", [])
    for statement in statements if isinstance(statements, list) else [statements]:
        principal = statement.get("Principal")
        services = principal.get("Service", []) if isinstance(principal, dict) else []
        if statement.get("Effect") == "Allow" and (
            principal == "*" or service in ([services] if isinstance(services, str) else services)
        ):
            return True
    return False
