"""
Faults that a test or `gpukit sandbox faults` switches on: throttling, no capacity, slowness, lost connections, denied permissions, any error.

They live in `DIR/faults.json`, are read again whenever the file changes, and the admin endpoint writes the same file. A pattern names actions as
`service:Operation` with `*`, for example `ec2:*` or `*:Describe*`.
"""

import fnmatch
import json
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.state import write_json

if TYPE_CHECKING:
    from gpukit_sandbox.cloud.requests import ApiCall

KINDS: Final = ("throttle", "capacity", "slow", "drop", "deny", "error")

THROTTLING_CODES: Final = {
    # Source: each service's "Common Errors" page; EC2: "Error codes for the Amazon EC2 API"; IAM: "Throttling"; Image Builder: its error list.
    "ec2": ("RequestLimitExceeded", 503),
    "iam": ("Throttling", 400),
    "sts": ("Throttling", 400),
    "autoscaling": ("Throttling", 400),
    "cloudwatch": ("Throttling", 400),
    "sns": ("Throttling", 400),
    "s3": ("SlowDown", 503),
    "imagebuilder": ("CallRateLimitExceededException", 429),
    "eks": ("ThrottlingException", 429),
    "efs": ("ThrottlingException", 429),
    "budgets": ("ThrottlingException", 400),
}
DENIED_CODES: Final = {
    "ec2": "UnauthorizedOperation",
    "iam": "AccessDenied",
    "sts": "AccessDenied",
    "s3": "AccessDenied",
    "autoscaling": "AccessDenied",
    "cloudwatch": "AccessDenied",
    "sns": "AuthorizationError",
}


class ConnectionLost(Exception):
    """The connection breaks instead of an answer."""


@dataclass(slots=True)
class _Bucket:
    tokens: float
    filled_at: float


@dataclass(slots=True)
class Faults:
    """The switchboard: which faults are on now, and how often each has struck."""

    path: Path
    settings: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    _stamp: tuple[int, int] = (0, 0)
    _buckets: dict[str, _Bucket] = field(default_factory=dict)
    _struck: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def read(self) -> dict[str, list[dict[str, Any]]]:
        """Return the faults that are on, reading the file again when it changed."""
        with self._lock:
            try:
                status = self.path.stat()
            except FileNotFoundError:
                self.settings, self._stamp = {}, (0, 0)
                return self.settings
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                try:
                    settings = json.loads(self.path.read_text(encoding="utf-8"))
                except (OSError, json.JSONDecodeError):
                    # Half-written by hand: keep what is on until it reads well again.
                    return self.settings
                self.settings = settings if isinstance(settings, dict) else {}
                self._stamp = stamp
                self._buckets.clear()
                self._struck.clear()
            return self.settings

    def write(self, settings: dict[str, Any]) -> None:
        """Replace the faults. Raises AwsError for a kind that does not exist."""
        unknown = sorted(set(settings) - set(KINDS))
        if unknown:
            raise AwsError(
                "ValidationException", f"unknown kind of fault: {', '.join(unknown)}; there are {', '.join(KINDS)}"
            )
        write_json(self.path, settings)

    def before(self, call: "ApiCall") -> None:
        """Strike before the call is looked at."""
        settings = self.read()
        if not settings:
            return
        name = call.action_name
        for row in _matching(settings, "throttle", name):
            self._throttle(row, call)
        for row in _matching(settings, "deny", name):
            if call.params.get("DryRun") is not None or self._strikes("deny", row):
                raise denied(call)
        for row in _matching(settings, "error", name):
            if self._strikes("error", row):
                raise AwsError(
                    str(row["code"]), str(row.get("message", "a fault of the sandbox")), status=row.get("status")
                )
        for row in _matching(settings, "drop", name):
            if row.get("when", "after") == "before" and self._strikes("drop", row):
                raise ConnectionLost(name)
        for row in _matching(settings, "slow", name):
            if row.get("what", "answer") == "answer":
                time.sleep(float(row["seconds"]))

    def after(self, call: "ApiCall") -> None:
        """Strike when the call has had its effect and the answer is about to leave."""
        for row in _matching(self.read(), "drop", call.action_name):
            if row.get("when", "after") == "after" and self._strikes("drop", row):
                raise ConnectionLost(call.action_name)

    def creation_seconds(self, action_name: str) -> float:
        """Return how long what this action makes stays in its making; 0 by default."""
        return max(
            (
                float(row["seconds"])
                for row in _matching(self.read(), "slow", action_name)
                if row.get("what") == "creation"
            ),
            default=0.0,
        )

    def capacity_left(self, instance_type: str, zone: str) -> int | None:
        """Return how many instances of a type a zone still gives on demand; None without a limit."""
        for row in self.read().get("capacity", []):
            if fnmatch.fnmatchcase(instance_type, row.get("instance_type", "*")) and fnmatch.fnmatchcase(
                zone, row.get("zone", "*")
            ):
                return int(row.get("available", 0))
        return None

    def _throttle(self, row: dict[str, Any], call: "ApiCall") -> None:
        rate = float(row.get("per_second", 0))
        burst = float(row.get("burst", max(rate, 0)))
        key = json.dumps(row, sort_keys=True)
        now = time.monotonic()
        with self._lock:
            bucket = self._buckets.setdefault(key, _Bucket(burst, now))
            bucket.tokens = min(burst, bucket.tokens + (now - bucket.filled_at) * rate)
            bucket.filled_at = now
            if bucket.tokens >= 1:
                bucket.tokens -= 1
                return
        if not self._strikes("throttle", row):
            return
        raise throttled(call.service)

    def _strikes(self, kind: str, row: dict[str, Any]) -> bool:
        times = row.get("times")
        if times is None:
            return True
        key = kind + json.dumps(row, sort_keys=True)
        with self._lock:
            struck = self._struck.get(key, 0)
            if struck >= int(times):
                return False
            self._struck[key] = struck + 1
            return True


def throttled(service: str) -> AwsError:
    """Return the refusal of a service that is asked too often."""
    code, status = THROTTLING_CODES.get(service, ("ThrottlingException", 400))
    return AwsError(code, "Request limit exceeded." if service == "ec2" else "Rate exceeded", status=status)


def denied(call: "ApiCall") -> AwsError:
    """Return the refusal of a caller without the permission."""
    who = "arn:aws:iam::111122223333:user/sandbox"
    if call.service == "ec2":
        return AwsError(
            "UnauthorizedOperation",
            f"You are not authorized to perform this operation. User: {who} is not authorized to perform: {call.action_name}",
        )
    code = DENIED_CODES.get(call.service, "AccessDeniedException")
    return AwsError(code, f"User: {who} is not authorized to perform: {call.action_name}", status=403)


def _matching(settings: dict[str, list[dict[str, Any]]], kind: str, name: str) -> list[dict[str, Any]]:
    return [
        row for row in settings.get(kind, []) if fnmatch.fnmatchcase(name.lower(), str(row.get("action", "*")).lower())
    ]
