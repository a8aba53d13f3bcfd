"""
The sandbox's own endpoint, `/_gpukit/...`, for what no AWS call does: seed reservations, set quotas, switch faults, count and empty the world.

It speaks JSON. GET `/_gpukit/version` (grows with each change), `/_gpukit/world`, `/_gpukit/faults`, `/_gpukit/quotas`, `/_gpukit/rules`; POST `/_gpukit/reservations`, `/_gpukit/quotas`,
`/_gpukit/images`, `/_gpukit/faults`, `/_gpukit/reset`; DELETE `/_gpukit/faults`.
"""

import json
from collections.abc import Callable
from typing import Any

from gpukit_sandbox.cloud import persistence
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.faults import Faults
from gpukit_sandbox.cloud.registry import rules_table
from gpukit_sandbox.cloud.state import World

Route = Callable[[dict[str, Any], World, Faults], Any]


def answer(
    environ: dict[str, Any], body: bytes, world: World, switchboard: Faults
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of the answer to an administrative request."""
    method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].removeprefix("/_gpukit").rstrip("/")
    headers = {"Content-Type": "application/json"}
    route = _ROUTES.get((method, path))
    if route is None:
        known = ", ".join(f"{verb} /_gpukit{place}" for verb, place in sorted(_ROUTES))
        return 404, headers, json.dumps({"error": f"no {method} /_gpukit{path}; there are {known}"}).encode()
    try:
        request = json.loads(body) if body else {}
        with world.changing() if method != "GET" else world.lock:
            result = route(request, world, switchboard)
    except (ValueError, KeyError, TypeError, AwsError) as problem:
        return 400, headers, json.dumps({"error": f"{type(problem).__name__}: {problem}"}).encode()
    return 200, headers, json.dumps(result, default=str, sort_keys=True).encode()


def _world(_request: dict[str, Any], world: World, _switchboard: Faults) -> Any:
    from gpukit_sandbox.cloud.census import count_world

    return count_world(world)


def _reset(_request: dict[str, Any], world: World, _switchboard: Faults) -> Any:
    persistence.empty_of_moto()
    world.tables.clear()
    return {"reset": True}


def _read_faults(_request: dict[str, Any], _world: World, switchboard: Faults) -> Any:
    return switchboard.read()


def _write_faults(request: dict[str, Any], _world: World, switchboard: Faults) -> Any:
    switchboard.write(request)
    return switchboard.read()


def _clear_faults(_request: dict[str, Any], _world: World, switchboard: Faults) -> Any:
    switchboard.write({})
    return {}


def _rules(_request: dict[str, Any], _world: World, _switchboard: Faults) -> Any:
    return [{"service": row[0], "operation": row[1], "rule": row[2], "source": row[3]} for row in rules_table()]


def _version(_request: dict[str, Any], world: World, _switchboard: Faults) -> Any:
    return {"version": world.version}


_ROUTES: dict[tuple[str, str], Route] = {
    ("GET", "/world"): _world,
    ("GET", "/version"): _version,
    ("POST", "/reset"): _reset,
    ("GET", "/faults"): _read_faults,
    ("POST", "/faults"): _write_faults,
    ("PUT", "/faults"): _write_faults,
    ("DELETE", "/faults"): _clear_faults,
    ("GET", "/rules"): _rules,
}


def route(method: str, path: str) -> Callable[[Route], Route]:
    """Register another administrative request."""

    def register(handler: Route) -> Route:
        _ROUTES[(method, path)] = handler
        return handler

    return register
