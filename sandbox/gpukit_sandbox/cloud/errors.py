"""Errors as AWS words them, and their form on the wire for each protocol."""

import json
from collections.abc import Mapping
from typing import Any, Final
from xml.sax.saxutils import escape

_STATUS_BY_CODE: Final[Mapping[str, int]] = {
    # A code that AWS answers with another status than 400. Source: the services' API references, "Common Errors" and each action's "Errors".
    "AccessDenied": 403,
    "AccessDeniedException": 403,
    "BucketAlreadyOwnedByYou": 409,
    "BucketNotEmpty": 409,
    "EntityAlreadyExists": 409,
    "InsufficientInstanceCapacity": 500,
    "InternalError": 500,
    "LimitExceeded": 409,
    "DeleteConflict": 409,
    "MissingAuthenticationToken": 403,
    "NoSuchBucket": 404,
    "NoSuchEntity": 404,
    "NoSuchKey": 404,
    "NotImplemented": 501,
    "RequestLimitExceeded": 503,
    "SlowDown": 503,
    "TooManyRequestsException": 429,
    "CallRateLimitExceededException": 429,
    "UnauthorizedOperation": 403,
    "Unavailable": 503,
    "DryRunOperation": 412,
    "Throttling": 400,
}


class AwsError(Exception):
    """A refusal with AWS's code. `fields` are members of the modelled error beside its message."""

    def __init__(
        self, code: str, message: str, *, status: int | None = None, fields: Mapping[str, Any] | None = None
    ) -> None:
        """Keep the code, the sentence and what else the modelled error carries."""
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.fields = dict(fields or {})


def not_implemented(service: str, operation: str) -> AwsError:
    """Return the answer to a call that the sandbox does not model: loud, and never an empty success."""
    return AwsError(
        "NotImplemented",
        f"The sandbox does not model {service}:{operation}; docs/sandbox-cloud.md lists what it models and how to add an action",
    )


def render_error(
    error: AwsError, *, protocol: str, service: str, model: Any, request_id: str
) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of a refusal in the words of the protocol that the client speaks."""
    status = error.status or _modelled_status(model, error.code) or _STATUS_BY_CODE.get(error.code, 400)
    code, message = escape(error.code), escape(error.message)
    if protocol == "ec2":
        body = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message>'
            f"</Error></Errors><RequestID>{request_id}</RequestID></Response>"
        )
        return status, {"Content-Type": "text/xml;charset=UTF-8"}, body.encode()
    if protocol == "query":
        kind = "Receiver" if status >= 500 else "Sender"
        body = (
            f"<ErrorResponse><Error><Type>{kind}</Type><Code>{code}</Code><Message>{message}</Message></Error>"
            f"<RequestId>{request_id}</RequestId></ErrorResponse>"
        )
        return status, {"Content-Type": "text/xml"}, body.encode()
    if protocol == "rest-xml":
        fields = "".join(f"<{name}>{escape(str(value))}</{name}>" for name, value in error.fields.items())
        body = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>{message}</Message>{fields}'
            f"<RequestId>{request_id}</RequestId></Error>"
        )
        return status, {"Content-Type": "application/xml"}, body.encode()
    headers = {"Content-Type": "application/x-amz-json-1.1", "x-amzn-errortype": error.code}
    if model is not None and "awsQueryCompatible" in model.metadata:
        headers["x-amzn-query-error"] = f"{error.code};{'Receiver' if status >= 500 else 'Sender'}"
    payload: dict[str, Any] = {"__type": error.code, "message": error.message, "Message": error.message}
    if service == "efs":
        payload["ErrorCode"] = error.code
    payload.update(error.fields)
    return status, headers, json.dumps(payload).encode()


def _modelled_status(model: Any, code: str) -> int | None:
    if model is None:
        return None
    for shape in model.error_shapes:
        trait = shape.metadata.get("error", {})
        if code in (shape.name, trait.get("code")):
            found = trait.get("httpStatusCode")
            return int(found) if found else None
    return None
