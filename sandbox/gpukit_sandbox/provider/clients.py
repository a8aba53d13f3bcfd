"""boto3 clients for one loopback endpoint: made once a service and region, kept for the life of the process."""

import ipaddress
import os
import threading
from typing import Any
from urllib.parse import urlsplit

from gpukit_sandbox.errors import SandboxError

ENDPOINT_VARIABLE = "AWS_ENDPOINT_URL"


def require_loopback(endpoint: str) -> str:
    """Return the endpoint if it is this machine. Raises SandboxError for any other: the double must never reach a real account."""
    host = urlsplit(endpoint).hostname or ""
    if not endpoint or not host:
        raise SandboxError(
            f"{ENDPOINT_VARIABLE} is not set"
            if not endpoint
            else f"{ENDPOINT_VARIABLE} {endpoint!r} is not an address",
            why="the AWS double speaks to the sandbox alone, never to AWS",
            fix="run the command through `gpukit sandbox run -- ...`",
        )
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback:
        raise SandboxError(
            f"{ENDPOINT_VARIABLE} {endpoint!r} is not on this machine",
            why="the AWS double speaks to the sandbox alone, never to AWS",
            fix="use an address on 127.0.0.1, or the official provider for a real account",
        )
    return endpoint


class Clients:
    """Hands out boto3 clients; safe to use from many threads."""

    def __init__(self, endpoint: str) -> None:
        """Check the endpoint; make no client yet."""
        self.endpoint = require_loopback(endpoint)
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], Any] = {}
        self._session: Any = None

    def client(self, service: str, region: str) -> Any:
        """Return the client of a service in a region. Loading a service's model takes up to half a second, once."""
        key = (service, region)
        found = self._clients.get(key)
        if found is not None:
            return found
        with self._lock:
            if key not in self._clients:
                self._clients[key] = self._make(service, region)
            return self._clients[key]

    def _make(self, service: str, region: str) -> Any:
        from botocore.config import Config
        from botocore.session import Session

        if self._session is None:
            self._session = Session()
            self._session.set_credentials(
                os.environ.get("AWS_ACCESS_KEY_ID", "sandbox"), os.environ.get("AWS_SECRET_ACCESS_KEY", "sandbox")
            )
        return self._session.create_client(
            service,
            region_name=region,
            endpoint_url=self.endpoint,
            config=Config(
                # Throttling is one of the sandbox's faults: the real provider retries it up to 25 times.
                retries={"max_attempts": 12, "mode": "standard"},
                max_pool_connections=32,
                connect_timeout=5,
                read_timeout=60,
                s3={"addressing_style": "path"},
                inject_host_prefix=False,
                parameter_validation=True,
            ),
        )
