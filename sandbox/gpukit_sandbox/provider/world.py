"""One configured provider: where its calls go, its defaults, and the notes of creations that the engine has not confirmed."""

import hashlib
import json
import os
import re
import threading
import time
from pathlib import Path
from typing import Any, Final

from gpukit_sandbox.provider.clients import Clients
from gpukit_sandbox.state import read_json, write_json

CREATIONS_VARIABLE: Final = "GPUKIT_SANDBOX_CREATIONS"
"""The directory for notes of unconfirmed creations; without it an interrupted creation is not adopted."""


class Cancelled(Exception):
    """The engine asked the provider to stop waiting."""


class Refused(Exception):
    """AWS said no; the message is what people read."""

    def __init__(self, message: str, code: str = "") -> None:
        """Keep AWS's error code apart from the sentence."""
        super().__init__(message)
        self.code = code


class World:
    """What every operation of one provider shares."""

    def __init__(self, clients: Clients, region: str, default_tags: dict[str, str] | None = None) -> None:
        """Take the configuration; call nothing yet."""
        self.clients = clients
        self.region = region
        self.default_tags = dict(default_tags or {})
        self.cancelled = threading.Event()
        self._account: str | None = None

    def at(self, region: str | None) -> "Calls":
        """Return the calls of a region, the provider's own when none is named."""
        return Calls(self, region or self.region)

    def account(self) -> str:
        """Return the account's id, asked once."""
        if self._account is None:
            answer = self.at(None).call("sts", "get_caller_identity")
            self._account = str(answer["Account"])
        return self._account


class Calls:
    """boto3 calls in one region."""

    def __init__(self, world: World, region: str) -> None:
        """Bind a world to a region."""
        self.world = world
        self.region = region

    @property
    def account(self) -> str:
        """The account's id."""
        return self.world.account()

    def call(self, service: str, operation: str, /, **parameters: Any) -> dict[str, Any]:
        """Call one operation by its boto3 name. Raises Refused with AWS's code and words."""
        from botocore.exceptions import BotoCoreError, ClientError

        if self.world.cancelled.is_set() and not _only_reads(operation):
            raise Cancelled("the engine cancelled the operation")
        client = self.world.clients.client(service, self.region)
        try:
            answer: dict[str, Any] = getattr(client, operation)(**parameters)
        except ClientError as problem:
            error = problem.response.get("Error", {})
            code = str(error.get("Code", ""))
            raise Refused(
                f"{service} {client.meta.method_to_api_mapping[operation]}: {code}: {error.get('Message', '')}", code
            ) from problem
        except BotoCoreError as problem:
            raise Refused(
                f"{service} {client.meta.method_to_api_mapping[operation]}: {problem}", type(problem).__name__
            ) from problem
        answer.pop("ResponseMetadata", None)
        return answer

    def shape(self, service: str, operation: str) -> Any:
        """Return botocore's input structure of an operation."""
        client = self.world.clients.client(service, self.region)
        return client.meta.service_model.operation_model(client.meta.method_to_api_mapping[operation]).input_shape

    def pause(self, seconds: float) -> None:
        """Wait, or raise Cancelled at once when the engine cancels."""
        if self.world.cancelled.wait(seconds):
            raise Cancelled("the engine cancelled while AWS was still working")


class Creations:
    """
    Notes of creations that the engine has not confirmed yet, one file a resource.

    A note is written before the create call and gets the id after it. The engine confirms by asking anything about that id later. If
    it never does, because the provider or the engine was killed in between, the next creation of the same resource with the same
    inputs adopts what stands instead of making it twice.
    """

    def __init__(self, folder: Path | None) -> None:
        """Keep notes in a folder; None keeps none."""
        self._folder = folder

    @classmethod
    def from_environment(cls) -> "Creations":
        """Return the notes of this sandbox, as its environment names them."""
        value = os.environ.get(CREATIONS_VARIABLE, "")
        return cls(Path(value) if value else None)

    def begin(self, urn: str, inputs: dict[str, Any]) -> None:
        """Note that a create call is about to leave."""
        if self._folder is not None:
            write_json(self._path(urn), {"urn": urn, "inputs": _digest(inputs), "at": time.time()})

    def made(self, urn: str, inputs: dict[str, Any], resource_id: str) -> None:
        """Note the id of what the call made."""
        if self._folder is not None:
            write_json(self._path(urn), {"urn": urn, "inputs": _digest(inputs), "id": resource_id, "at": time.time()})

    def confirm(self, urn: str, resource_id: str) -> None:
        """Drop the note: the engine knows this id."""
        if self._folder is None:
            return
        path = self._path(urn)
        if path.exists() and read_json(path).get("id", resource_id) == resource_id:
            path.unlink(missing_ok=True)

    def forget(self, urn: str) -> None:
        """Drop the note: the call made nothing."""
        if self._folder is not None:
            self._path(urn).unlink(missing_ok=True)

    def unconfirmed(self, urn: str, inputs: dict[str, Any]) -> dict[str, Any] | None:
        """Return the note of an earlier creation with the same inputs, or None. Its `id` is missing if the call was never answered."""
        if self._folder is None:
            return None
        note = read_json(self._path(urn))
        return note if note and note.get("inputs") == _digest(inputs) else None

    def _path(self, urn: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{hashlib.sha256(urn.encode()).hexdigest()[:24]}.json"


def _digest(inputs: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:24]


def _only_reads(operation: str) -> bool:
    return bool(re.match(r"(describe|get|list|head|search)_", operation))
