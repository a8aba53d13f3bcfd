"""
A small client of the Kubernetes API: JSON over TLS, the standard library alone.

    api = KubeApi.from_kubeconfig(path)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team-a"}})
    api.list("batch/v1", "Job", namespace="team-a")
"""

import base64
import contextlib
import http.client
import json
import os
import ssl
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

import yaml

from gpukit_sandbox.errors import PartFailed, SandboxError, UnknownName

FIELD_MANAGER: Final = "gpukit"
TIMEOUT_SECONDS: Final = 30.0
PAGE_SIZE: Final = 500


class KubeRefused(SandboxError):
    """The API server answered with an error; `status` is the HTTP status, `reason` Kubernetes' own word."""

    def __init__(self, method: str, path: str, status: int, answer: Mapping[str, Any], text: str) -> None:
        """Keep what callers decide by."""
        self.status = status
        self.reason = str(answer.get("reason", ""))
        self.message = str(answer.get("message", "")) or text[:500]
        super().__init__(f"Kubernetes refuses {method} {path} ({status} {self.reason})", why=self.message)


@dataclass(slots=True)
class KubeApi:
    """One API server and one identity. Connections are kept per thread."""

    server: str
    ca_file: str | None = None
    ca_data: str | None = None
    token: str | None = None
    client_certificate: tuple[str, str] | None = None
    timeout_seconds: float = TIMEOUT_SECONDS
    _kinds: dict[tuple[str, str], tuple[str, bool]] = field(default_factory=dict)
    _local: threading.local = field(default_factory=threading.local)
    _tls: ssl.SSLContext | None = None

    @classmethod
    def from_kubeconfig(cls, path: Path, context: str | None = None) -> "KubeApi":
        """Return a client for a kubeconfig's current or named context. Raises UnknownName when it cannot be read or lacks the context."""
        try:
            document = yaml.safe_load(path.read_text(encoding="utf-8"))
            name = context or document.get("current-context")
            chosen = next(item["context"] for item in document["contexts"] if item["name"] == name)
            cluster = next(item["cluster"] for item in document["clusters"] if item["name"] == chosen["cluster"])
            user = next(item["user"] for item in document["users"] if item["name"] == chosen["user"])
            server = str(cluster["server"])
        except OSError as problem:
            raise UnknownName(
                f"kubeconfig {path} cannot be read: {problem.strerror}", fix="state the path of an existing kubeconfig"
            ) from problem
        except (yaml.YAMLError, StopIteration, KeyError, TypeError, AttributeError) as problem:
            raise UnknownName(
                f"kubeconfig {path} names no usable context" + (f" {context!r}" if context else ""),
                why="a context needs a cluster with a server, and a user",
                fix="see `kubectl config get-contexts`",
            ) from problem
        api = cls(
            server=server,
            ca_file=cluster.get("certificate-authority"),
            ca_data=cluster.get("certificate-authority-data"),
        )
        api._identify(user, path.parent)
        return api

    # Objects

    def get(self, api_version: str, kind: str, name: str, namespace: str | None = None) -> dict[str, Any] | None:
        """Return an object, or None when there is none of that name."""
        try:
            return self.request("GET", self.path(api_version, kind, name, namespace))
        except KubeRefused as refusal:
            if refusal.status == 404:
                return None
            raise

    def list(
        self, api_version: str, kind: str, *, namespace: str | None = None, labels: str = "", fields: str = ""
    ) -> "list[dict[str, Any]]":
        """Return all objects of a kind, page by page."""
        found: list[dict[str, Any]] = []
        query = {
            "limit": str(PAGE_SIZE),
            **({"labelSelector": labels} if labels else {}),
            **({"fieldSelector": fields} if fields else {}),
        }
        while True:
            page = self.request("GET", self.path(api_version, kind, None, namespace), query=query)
            found += page.get("items", [])
            onward = page.get("metadata", {}).get("continue")
            if not onward:
                return found
            query["continue"] = onward

    def create(self, manifest: Mapping[str, Any], *, dry_run: bool = False) -> dict[str, Any]:
        """Create an object and return it as it was stored."""
        path = self.path(manifest["apiVersion"], manifest["kind"], None, manifest["metadata"].get("namespace"))
        return self.request("POST", path, manifest, query={"dryRun": "All"} if dry_run else {})

    def apply(
        self, manifest: Mapping[str, Any], *, dry_run: bool = False, force: bool = True, subresource: str = ""
    ) -> dict[str, Any]:
        """Server-side apply an object: create it, or change only the fields that it states."""
        metadata = manifest["metadata"]
        path = self.path(manifest["apiVersion"], manifest["kind"], metadata["name"], metadata.get("namespace"))
        query = {
            "fieldManager": FIELD_MANAGER,
            "force": "true" if force else "false",
            **({"dryRun": "All"} if dry_run else {}),
        }
        return self.request(
            "PATCH", path + subresource, manifest, query=query, content_type="application/apply-patch+yaml"
        )

    def patch(
        self,
        api_version: str,
        kind: str,
        name: str,
        change: Mapping[str, Any],
        *,
        namespace: str | None = None,
        subresource: str = "",
    ) -> dict[str, Any]:
        """Merge a change into an object."""
        path = self.path(api_version, kind, name, namespace) + subresource
        return self.request("PATCH", path, change, content_type="application/merge-patch+json")

    def delete(
        self,
        api_version: str,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        propagation: str = "Background",
        grace_seconds: int | None = None,
    ) -> bool:
        """Delete an object; tell whether there was one."""
        body: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": propagation}
        if grace_seconds is not None:
            body["gracePeriodSeconds"] = grace_seconds
        try:
            self.request("DELETE", self.path(api_version, kind, name, namespace), body)
        except KubeRefused as refusal:
            if refusal.status == 404:
                return False
            raise
        return True

    def path(self, api_version: str, kind: str, name: str | None = None, namespace: str | None = None) -> str:
        """Return the path of an object or of its collection, by the server's own discovery."""
        plural, namespaced = self._kind(api_version, kind)
        parts = [_group_path(api_version)]
        if namespaced and namespace is not None:
            parts += ["namespaces", quote(namespace, safe="")]
        elif namespaced and name is not None:
            parts += ["namespaces", "default"]
        parts.append(plural)
        if name is not None:
            parts.append(quote(name, safe=""))
        return "/".join(parts)

    # The wire

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        """Return the answer to one request. Raises KubeRefused for an error answer, PartFailed when nothing answers."""
        text = self.request_text(method, path, body, query=query, content_type=content_type)
        try:
            answer = json.loads(text)
        except json.JSONDecodeError:
            return {"text": text}
        return answer if isinstance(answer, dict) else {"value": answer}

    def request_text(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
        content_type: str = "application/json",
    ) -> str:
        """Return an answer's text; see `request`."""
        target = path + (f"?{urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", "User-Agent": "gpukit"}
        if body is not None:
            headers["Content-Type"] = content_type
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        payload = None if body is None else json.dumps(body).encode()
        status, content = self._send(method, target, payload, headers)
        text = content.decode("utf-8", "replace")
        if status >= 400:
            try:
                answer = json.loads(text)
            except json.JSONDecodeError:
                answer = {}
            raise KubeRefused(method, path, status, answer if isinstance(answer, dict) else {}, text)
        return text

    def ready(self) -> bool:
        """Tell whether the API server says that it is ready; never raises."""
        try:
            return self.request_text("GET", "/readyz") == "ok"
        except SandboxError:
            return False

    def version(self) -> str:
        """Return the server's version, such as v1.36.3."""
        return str(self.request("GET", "/version").get("gitVersion", ""))

    def _send(self, method: str, target: str, payload: bytes | None, headers: Mapping[str, str]) -> tuple[int, bytes]:
        # A kept connection may have been closed by the server meanwhile: one fresh try, then it is a failure.
        for attempt in (1, 2):
            connection = self._connection()
            try:
                connection.request(method, target, body=payload, headers=dict(headers))
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (OSError, http.client.HTTPException) as problem:
                connection.close()
                self._local.connection = None
                if attempt == 2 or isinstance(problem, TimeoutError):
                    raise PartFailed(
                        f"the Kubernetes API server at {self.server} does not answer",
                        why=str(problem) or type(problem).__name__,
                    ) from problem
        raise AssertionError("unreachable")

    def _connection(self) -> http.client.HTTPConnection:
        kept: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if kept is not None:
            return kept
        address = urlsplit(self.server)
        host, port = address.hostname or "127.0.0.1", address.port
        made: http.client.HTTPConnection
        if address.scheme == "http":
            made = http.client.HTTPConnection(host, port, timeout=self.timeout_seconds)
        else:
            made = http.client.HTTPSConnection(host, port, timeout=self.timeout_seconds, context=self._tls_context())
        self._local.connection = made
        return made

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            data = base64.b64decode(self.ca_data).decode() if self.ca_data else None
            self._tls = ssl.create_default_context(cafile=None if data else self.ca_file, cadata=data)
            if self.client_certificate is not None:
                self._tls.load_cert_chain(*self.client_certificate)
        return self._tls

    def _kind(self, api_version: str, kind: str) -> tuple[str, bool]:
        if (api_version, kind) not in self._kinds:
            for resource in self.request("GET", _group_path(api_version)).get("resources", []):
                if "/" not in resource["name"]:
                    self._kinds[api_version, resource["kind"]] = (resource["name"], bool(resource["namespaced"]))
        try:
            return self._kinds[api_version, kind]
        except KeyError:
            raise UnknownName(
                f"the cluster knows no kind {kind} in {api_version}", fix="install its CustomResourceDefinition"
            ) from None

    def _identify(self, user: Mapping[str, Any], folder: Path) -> None:
        if user.get("token"):
            self.token = str(user["token"])
        elif user.get("tokenFile"):
            self.token = Path(folder, user["tokenFile"]).read_text(encoding="utf-8").strip()
        elif user.get("exec"):
            self.token = _run_exec_plugin(user["exec"])
        if user.get("client-certificate") and user.get("client-key"):
            self.client_certificate = (str(folder / user["client-certificate"]), str(folder / user["client-key"]))
        elif user.get("client-certificate-data"):
            self.client_certificate = _materialize(user["client-certificate-data"], user["client-key-data"])


def _group_path(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _run_exec_plugin(plugin: Mapping[str, Any]) -> str | None:
    environment = {**os.environ, **{item["name"]: item["value"] for item in plugin.get("env") or []}}
    command = [str(plugin["command"]), *map(str, plugin.get("args") or [])]
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=True
        )
        token: str | None = json.loads(done.stdout)["status"]["token"]
    except (OSError, subprocess.SubprocessError, ValueError, KeyError) as problem:
        detail = getattr(problem, "stderr", None) or str(problem)
        raise PartFailed(
            f"the credential plug-in {command[0]} of the kubeconfig gives no token", why=str(detail).strip()[-500:]
        ) from problem
    return token


def _materialize(certificate: str, key: str) -> tuple[str, str]:
    """Write a key pair where the TLS library can read it: it takes files only, and they must not outlive this process."""
    import atexit
    import tempfile

    paths = []
    for content in (certificate, key):
        handle, path = tempfile.mkstemp(prefix="gpukit-")
        os.write(handle, base64.b64decode(content))
        os.close(handle)
        paths.append(path)

    def forget() -> None:
        for path in paths:
            with contextlib.suppress(OSError):
                os.unlink(path)

    atexit.register(forget)
    return paths[0], paths[1]
