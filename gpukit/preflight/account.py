"""
Ask an AWS account, read-only.

boto3 is imported here and nowhere else in the core, and only when a question is asked. Throttled calls are repeated
with growing pauses by botocore's standard retry mode. Nothing but reading operations, and a launch with DryRun, gets
through.
"""

from collections.abc import Iterator
from typing import Any, Final

_READING: Final = ("Describe", "Get", "List")
_ATTEMPTS: Final = 8
"""Pauses of 1, 2, 4, ... up to 20 seconds with jitter; a minute in all. Source: botocore, standard retry mode."""
_DENIED: Final = frozenset(
    {"UnauthorizedOperation", "AccessDenied", "AccessDeniedException", "AuthorizationError", "NotAuthorized"}
)
_THROTTLED: Final = frozenset(
    {
        "RequestLimitExceeded",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "SlowDown",
        "CallRateLimitExceededException",
    }
)


class NoCredentials(Exception):
    """There is no boto3, or no credentials, or no way to reach AWS at all."""


class Refused(Exception):
    """A call that AWS did not answer with data: its code, its message, and the action that was asked."""

    def __init__(self, action: str, code: str, message: str) -> None:
        super().__init__(f"{action}: {code}: {message}")
        self.action, self.code, self.message = action, code, message

    @property
    def denied(self) -> bool:
        """Whether a permission is missing."""
        return self.code in _DENIED

    @property
    def throttled(self) -> bool:
        """Whether AWS wanted fewer calls, even after all repetitions."""
        return self.code in _THROTTLED


class Account:
    """One account in one region. Clients are made when they are first needed, and kept."""

    def __init__(self, region: str, *, session: Any = None, attempts: int = _ATTEMPTS) -> None:
        self.region = region
        self._session = session
        self._attempts = attempts
        self._clients: dict[str, Any] = {}

    def ask(self, service: str, operation: str, /, **parameters: Any) -> dict[str, Any]:
        """
        Return the answer of `operation` in AWS's spelling (`DescribeSubnets`).

        Raises Refused where AWS answers with an error, NoCredentials where it cannot be asked at all, and ValueError
        for an operation that would change anything.
        """
        self._require_reading(operation, parameters)
        client = self._client(service)
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, ParamValidationError

        try:
            answer: dict[str, Any] = getattr(client, _snake(operation))(**parameters)
        except ClientError as error:
            told = error.response.get("Error", {})
            raise Refused(f"{service}:{operation}", str(told.get("Code", "")), str(told.get("Message", ""))) from error
        except ParamValidationError as error:
            raise Refused(f"{service}:{operation}", "ParamValidation", str(error)) from error
        except NoCredentialsError as error:
            raise NoCredentials("no AWS credentials were found") from error
        except BotoCoreError as error:
            raise Refused(f"{service}:{operation}", type(error).__name__, str(error)) from error
        return answer

    def ask_all(self, service: str, operation: str, key: str, /, **parameters: Any) -> Iterator[Any]:
        """Yield the items under `key` of all pages of an answer."""
        token_name = "NextToken"
        while True:
            answer = self.ask(service, operation, **parameters)
            yield from answer.get(key, [])
            token = answer.get("NextToken") or answer.get("nextToken")
            if not token:
                return
            token_name = "NextToken" if answer.get("NextToken") else "nextToken"
            parameters = {**parameters, token_name: token}

    def _require_reading(self, operation: str, parameters: dict[str, Any]) -> None:
        dry = operation == "RunInstances" and parameters.get("DryRun") is True
        if not dry and not operation.startswith(_READING):
            raise ValueError(f"{operation} is no reading operation")

    def _client(self, service: str) -> Any:
        if service not in self._clients:
            try:
                import boto3
                from botocore.config import Config
                from botocore.exceptions import BotoCoreError
            except ModuleNotFoundError as error:
                raise NoCredentials("the Python package `boto3` is not installed") from error
            session: Any = self._session or boto3.session.Session()
            settings = Config(
                retries={"mode": "standard", "total_max_attempts": self._attempts}, connect_timeout=10, read_timeout=30
            )
            try:
                self._clients[service] = session.client(service, region_name=self.region, config=settings)
            except BotoCoreError as error:
                raise NoCredentials(str(error)) from error
        return self._clients[service]


def _snake(operation: str) -> str:
    from botocore import xform_name

    return str(xform_name(operation))
