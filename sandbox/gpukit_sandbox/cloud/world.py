"""Look at and empty a running cloud from outside, through its administrative endpoint. Standard library only, so that any command may use it."""

import json
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

_OPENER = build_opener(ProxyHandler({}))
"""Never through a proxy: the cloud is on this machine."""


def describe_world(endpoint: str) -> dict[str, dict[str, int]]:
    """Return what stands, {region: {kind: count}}; {} for an empty cloud. Raises OSError when nothing answers."""
    answer: dict[str, dict[str, int]] = ask(endpoint, "GET", "/world")
    return answer


def reset(endpoint: str) -> None:
    """Empty the cloud: it is as a new account again."""
    ask(endpoint, "POST", "/reset")


def read_faults(endpoint: str) -> dict[str, Any]:
    """Return the faults that are on."""
    answer: dict[str, Any] = ask(endpoint, "GET", "/faults")
    return answer


def write_faults(endpoint: str, faults: dict[str, Any]) -> dict[str, Any]:
    """Replace the faults and return them. Raises ValueError with the cloud's own words when it refuses."""
    answer: dict[str, Any] = ask(endpoint, "POST", "/faults", faults)
    return answer


def seed_reservation(endpoint: str, reservation: dict[str, Any]) -> dict[str, Any]:
    """Create a reservation or Capacity Block as if it had been bought; see docs/sandbox-cloud.md for the keys. Returns the record."""
    answer: dict[str, Any] = ask(endpoint, "POST", "/reservations", reservation)
    return answer


def ask(endpoint: str, method: str, path: str, body: Any = None) -> Any:
    """Return the answer to one administrative request. Raises ValueError for a refusal and for an endpoint that is not this machine's own."""
    if urlsplit(endpoint).hostname not in ("127.0.0.1", "localhost", "::1"):
        raise ValueError(f"{endpoint} is not on this machine")
    request = Request(
        f"{endpoint.rstrip('/')}/_gpukit{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with _OPENER.open(request, timeout=30) as response:
            return json.loads(response.read())
    except HTTPError as refusal:
        text = refusal.read().decode("utf-8", "replace")
        raise ValueError(text) from refusal
