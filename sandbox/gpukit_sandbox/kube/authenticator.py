"""
Who is a caller of the control plane, as EKS decides it: the token's own STS request says who, the access entries say what for.

Serves Kubernetes' TokenReview webhook on 127.0.0.1. A token names a cluster and carries a signed STS request; it is sent to the AWS double and nowhere
else. The principal's access entry gives the user name and groups; each associated access policy gives one more group, which `access_rights` binds by RBAC.
A principal without an entry gets nothing.
"""

import argparse
import base64
import binascii
import json
import re
import ssl
import sys
import threading
import time
import urllib.request
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from gpukit_sandbox.kube.access_rights import group_of
from gpukit_sandbox.kube.token import CLUSTER_HEADER, PREFIX
from gpukit_sandbox.state import read_json

_ASSUMED_ROLE: Final = re.compile(r"arn:([\w-]+):sts::(\d{12}):assumed-role/([^/]+)/(.+)")
_OPENER: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))
LONGEST_TOKEN: Final = 16_384


class Refused(Exception):
    """A token that stands for nobody; the text says why, for the log and the caller."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A caller as Kubernetes knows it."""

    username: str
    uid: str
    groups: tuple[str, ...]


def read_token(token: str, sts_endpoint: str) -> str:
    """Return the STS request inside a token. Raises Refused for anything that is not GetCallerIdentity at this very endpoint."""
    if not token.startswith(PREFIX) or len(token) > LONGEST_TOKEN:
        raise Refused("not an EKS token")
    body = token.removeprefix(PREFIX)
    try:
        url = base64.b64decode(body + "=" * (-len(body) % 4), altchars=b"-_", validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError) as problem:
        raise Refused("the token is not base64 of a URL") from problem
    address, expected = urlsplit(url), urlsplit(sts_endpoint)
    if (address.scheme, address.netloc) != (expected.scheme, expected.netloc) or address.path not in ("", "/"):
        raise Refused(f"the token's request goes to {address.netloc}, not to {expected.netloc}")
    query = parse_qs(address.query)
    if query.get("Action") != ["GetCallerIdentity"]:
        raise Refused("the token's request is not GetCallerIdentity")
    if CLUSTER_HEADER not in (query.get("X-Amz-SignedHeaders") or [""])[0].split(";"):
        raise Refused(f"the token does not sign {CLUSTER_HEADER}")
    return url


def region_of(url: str) -> str:
    """Return the region in a signed request's credential."""
    credential = (parse_qs(urlsplit(url).query).get("X-Amz-Credential") or [""])[0].split("/")
    if len(credential) != 5:
        raise Refused("the token's request carries no credential")
    return credential[2]


def principal_of(caller_arn: str) -> tuple[str, str]:
    """Return the ARN that an access entry names and the session name: an assumed role's session belongs to its role."""
    match = _ASSUMED_ROLE.fullmatch(caller_arn)
    if match is None:
        return caller_arn, ""
    partition, account, role, session = match.groups()
    return f"arn:{partition}:iam::{account}:role/{role}", session


def identity_of(
    principal: str, session: str, entry: Mapping[str, Any], policies: "list[Mapping[str, Any]]"
) -> Identity:
    """Return user name and groups from an access entry and its associated policies."""
    username = str(entry.get("username") or principal).replace("{{SessionName}}", session)
    groups = [str(group) for group in entry.get("kubernetesGroups") or []]
    for association in policies:
        scope = association.get("accessScope") or {}
        namespaces = list(scope.get("namespaces") or []) if scope.get("type") == "namespace" else [""]
        groups += [group_of(str(association["policyArn"]), namespace) for namespace in namespaces]
    return Identity(username=username, uid=f"aws-iam-authenticator:{principal}", groups=tuple(sorted(set(groups))))


class Authenticator:
    """Answers token reviews from the AWS double's STS and EKS."""

    def __init__(self, cloud: Path) -> None:
        """Bind the double's directory; its endpoint is read at each question, as it may have restarted."""
        self.cloud = cloud
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}

    def review(self, review: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answered TokenReview."""
        status: dict[str, Any]
        try:
            identity = self.identify(str((review.get("spec") or {}).get("token", "")))
        except Refused as refusal:
            status = {"authenticated": False, "error": str(refusal)}
        else:
            status = {
                "authenticated": True,
                "user": {
                    "username": identity.username,
                    "uid": identity.uid,
                    "groups": [*identity.groups, "system:authenticated"],
                },
            }
        return {
            "apiVersion": review.get("apiVersion", "authentication.k8s.io/v1"),
            "kind": "TokenReview",
            "status": status,
        }

    def identify(self, token: str) -> Identity:
        """Return who a token stands for. Raises Refused."""
        endpoint = str(read_json(self.cloud / "cloud.json").get("endpoint", ""))
        if not endpoint:
            raise Refused("the AWS double does not run")
        url = read_token(token, endpoint)
        eks = self._eks(endpoint, region_of(url))
        for cluster in eks.list_clusters()["clusters"]:
            caller = _ask_sts(url, cluster)
            if caller is not None:
                principal, session = principal_of(caller)
                return self._from_entries(eks, cluster, principal, session)
        raise Refused("the token's signature fits no cluster and caller")

    def _from_entries(self, eks: Any, cluster: str, principal: str, session: str) -> Identity:
        entries = {arn: arn for arn in eks.list_access_entries(clusterName=cluster)["accessEntries"]}
        # An entry may name a role with its path, the caller's session never does.
        named = entries.get(principal) or next((arn for arn in entries if _without_path(arn) == principal), None)
        if named is None:
            raise Refused(f"{principal} has no access entry in cluster {cluster}")
        entry = eks.describe_access_entry(clusterName=cluster, principalArn=named)["accessEntry"]
        policies = eks.list_associated_access_policies(clusterName=cluster, principalArn=named)[
            "associatedAccessPolicies"
        ]
        return identity_of(named, session, entry, policies)

    def _eks(self, endpoint: str, region: str) -> Any:
        with self._lock:
            if (endpoint, region) not in self._clients:
                import boto3

                self._clients[endpoint, region] = boto3.client(
                    "eks",
                    region_name=region,
                    endpoint_url=endpoint,
                    aws_access_key_id="sandbox",
                    aws_secret_access_key="sandbox",
                )
            return self._clients[endpoint, region]


def serve(authenticator: Authenticator, *, port: int, certificate: Path, key: Path) -> None:
    """Answer token reviews until the process is ended."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            try:
                review = json.loads(self.rfile.read(length))
                answer = authenticator.review(review)
                note = answer["status"].get("error") or answer["status"]["user"]["username"]
            except Exception as problem:
                answer = {
                    "apiVersion": "authentication.k8s.io/v1",
                    "kind": "TokenReview",
                    "status": {"authenticated": False, "error": repr(problem)},
                }
                note = repr(problem)
            print(f"{time.strftime('%H:%M:%S')} {note}", flush=True)
            body = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *values: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    server.serve_forever()


def main(arguments: list[str] | None = None) -> int:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--cloud", type=Path, default=None)
    options = parser.parse_args(arguments)
    pki = options.directory / "pki"
    authenticator = Authenticator(options.cloud or options.directory / "no-cloud")
    serve(authenticator, port=options.port, certificate=pki / "server.crt", key=pki / "server.key")
    return 0


def _ask_sts(url: str, cluster: str) -> str | None:
    """Return the caller's ARN, or None when STS refuses the signature for this cluster's name."""
    request = urllib.request.Request(url, headers={CLUSTER_HEADER: cluster})
    try:
        with _OPENER.open(request, timeout=10) as answer:
            text = answer.read().decode("utf-8", "replace")
    except OSError:
        return None
    if text.lstrip().startswith("{"):
        return str(json.loads(text)["GetCallerIdentityResponse"]["GetCallerIdentityResult"]["Arn"])
    for element in ET.fromstring(text).iter():
        if element.tag.rsplit("}", 1)[-1] == "Arn":
            return element.text
    return None


def _without_path(role_arn: str) -> str:
    head, slash, tail = role_arn.partition(":role/")
    return f"{head}:role/{tail.rsplit('/', 1)[-1]}" if slash else role_arn


if __name__ == "__main__":
    sys.exit(main())
