"""
STS GetCallerIdentity, also as a signed link, which is what an EKS token is.

A signed link is checked as AWS does it: its signature, made with the caller's own secret over the host and every header that it names, and its age. So a
token for one cluster is none for another, and a made-up one stands for nobody.
"""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import parse_qsl, quote

from moto.backends import get_backend

from gpukit_sandbox.cloud.eks_access import CALLER
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import _QUERY_SCOPE, _SCOPE, ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID

SANDBOX_KEY: Final = "sandbox"
LONGEST_SECONDS: Final = 604_800
_DOC: Final = "AWS General Reference, Signature Version 4, query parameters"


@rule("sts", "GetCallerIdentity", source=_DOC)
def link_is_signed_and_fresh(call: ApiCall) -> None:
    """A signed link carries a right signature and has not run out."""
    query = dict(parse_qsl(call.environ.get("QUERY_STRING", ""), keep_blank_values=True))
    if "X-Amz-Signature" not in query:
        return
    made = datetime.strptime(query.get("X-Amz-Date", ""), "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    lifetime = min(int(query.get("X-Amz-Expires", "0")), LONGEST_SECONDS)
    if datetime.now(UTC) > made + timedelta(seconds=lifetime):
        raise AwsError("ExpiredToken", "The security token included in the request is expired", status=403)
    if not hmac.compare_digest(
        _signature(call.environ, query, _secret_of(_access_key(call))), query["X-Amz-Signature"]
    ):
        raise AwsError(
            "SignatureDoesNotMatch",
            "The request signature we calculated does not match the signature you provided.",
            status=403,
        )


@action("sts", "GetCallerIdentity")
def get_caller_identity(call: ApiCall) -> dict[str, Any]:
    """Return who signed the request: a role's session, a user, or the sandbox's own user."""
    key = _access_key(call)
    identifier, arn, account = get_backend("sts")[ACCOUNT_ID]["aws"].get_caller_identity(key, call.region)
    if arn.endswith(":user/moto"):
        if key != SANDBOX_KEY and key.startswith(("AKIA", "ASIA")):
            raise AwsError("InvalidClientTokenId", "The security token included in the request is invalid.", status=403)
        identifier, arn = "AIDASANDBOX", CALLER
    return {"UserId": identifier, "Account": account, "Arn": arn}


def _access_key(call: ApiCall) -> str:
    match = _SCOPE.search(call.environ.get("HTTP_AUTHORIZATION", ""))
    if match is None:
        query = dict(parse_qsl(call.environ.get("QUERY_STRING", "")))
        match = _QUERY_SCOPE.match(query.get("X-Amz-Credential", ""))
    return match.group(1) if match else ""


def _secret_of(access_key: str) -> str:
    backend = get_backend("sts")[ACCOUNT_ID]["aws"]
    role = backend.get_assumed_role_from_access_key(access_key)
    if role is not None:
        return str(role.secret_access_key)
    user = get_backend("iam")[ACCOUNT_ID]["aws"].get_user_from_access_key_id(access_key)
    if user is not None:
        return str(next(each.secret_access_key for each in user.access_keys if each.access_key_id == access_key))
    return SANDBOX_KEY


def _signature(environ: dict[str, Any], query: dict[str, str], secret: str) -> str:
    signed = query.get("X-Amz-SignedHeaders", "").split(";")
    headers = "".join(
        f"{name}:{' '.join(environ.get('HTTP_' + name.upper().replace('-', '_'), '').split())}\n" for name in signed
    )
    pairs = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in query.items()
        if name != "X-Amz-Signature"
    )
    canonical = "\n".join(
        [
            environ.get("REQUEST_METHOD", "GET"),
            quote(environ.get("PATH_INFO") or "/", safe="/-_.~"),
            "&".join(f"{name}={value}" for name, value in pairs),
            headers,
            ";".join(signed),
            hashlib.sha256(b"").hexdigest(),
        ]
    )
    _, day, region, service, end = query["X-Amz-Credential"].split("/")
    text = "\n".join(
        [
            "AWS4-HMAC-SHA256",
            query["X-Amz-Date"],
            f"{day}/{region}/{service}/{end}",
            hashlib.sha256(canonical.encode()).hexdigest(),
        ]
    )
    key = f"AWS4{secret}".encode()
    for part in (day, region, service, end):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
