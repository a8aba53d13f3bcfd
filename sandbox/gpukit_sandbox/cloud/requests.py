"""A request of boto3, read by botocore's own service model, and its answer, written by the same model."""

import io
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, Final

from botocore.model import OperationNotFoundError
from botocore.parsers import create_parser
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import NotFound, get_service_router
from moto.core.serialize import XFormedAttributePicker, get_serializer_class
from moto.core.utils import get_service_model
from werkzeug.exceptions import HTTPException

from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.state import World

SERVICE_BY_SIGNING_NAME: Final = {
    "autoscaling": "autoscaling",
    "budgets": "budgets",
    "ec2": "ec2",
    "ecr": "ecr",
    "eks": "eks",
    "elasticfilesystem": "efs",
    "events": "events",
    "fsx": "fsx",
    "iam": "iam",
    "imagebuilder": "imagebuilder",
    "kms": "kms",
    "logs": "logs",
    "monitoring": "cloudwatch",
    "resource-groups": "resource-groups",
    "s3": "s3",
    "scheduler": "scheduler",
    "servicequotas": "service-quotas",
    "sns": "sns",
    "ssm": "ssm",
    "sts": "sts",
    "tagging": "resourcegroupstaggingapi",
}
"""Every service that the sandbox answers: the name in the request's signature -> botocore's name."""

_SCOPE: Final = re.compile(r"Credential=([^/,]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
_QUERY_SCOPE: Final = re.compile(r"([^/]+)/\d{8}/([^/]+)/([^/]+)/aws4_request")
GLOBAL_SERVICES: Final = frozenset({"iam", "budgets", "s3"})


@dataclass(slots=True, kw_only=True)
class ApiCall:
    """One call: who is asked what, with the parameters as boto3's caller wrote them."""

    service: str
    operation: str
    region: str
    params: dict[str, Any]
    world: World
    protocol: str = "json"
    environ: dict[str, Any] = field(default_factory=dict)
    body: bytes = b""
    model: Any = None
    operation_model: Any = None
    request_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    ask_moto: Any = None
    """A function of this call that returns moto's raw (status, headers, body)."""

    @property
    def action_name(self) -> str:
        """Return the name that permissions and faults use: `ec2:RunInstances`."""
        return f"{self.service}:{self.operation}"

    def moto(self) -> dict[str, Any]:
        """Return moto's answer as boto3 would read it. Raises AwsError when moto refuses."""
        status, headers, body = self.ask_moto(self)
        parsed = create_parser(self.protocol).parse(
            {"headers": {key.lower(): value for key, value in headers.items()}, "body": body, "status_code": status},
            self.operation_model.output_shape,
        )
        if status >= 300:
            error = parsed.get("Error", {})
            raise AwsError(error.get("Code", "InternalError"), error.get("Message", ""), status=status)
        parsed.pop("ResponseMetadata", None)
        return dict(parsed)


def read_call(environ: dict[str, Any], body: bytes, world: World) -> ApiCall:
    """
    Return the call that a request carries.

    Raises AwsError for an unsigned request, a service or an operation that AWS or the sandbox does not know.
    """
    region, signing_name = _scope_of(environ)
    service = SERVICE_BY_SIGNING_NAME.get(signing_name)
    if service is None:
        raise AwsError(
            "NotImplemented",
            f"The sandbox has no service {signing_name!r}; it has {', '.join(sorted(SERVICE_BY_SIGNING_NAME))}",
        )
    model = get_service_model(service)
    request = Request({**environ, "wsgi.input": io.BytesIO(body)})
    call = ApiCall(
        service=service, operation="", region=region, params={}, world=world, environ=environ, body=body, model=model
    )
    try:
        call.protocol = determine_request_protocol(model, request.content_type)
    except NotImplementedError as problem:
        raise AwsError("SerializationException", str(problem)) from problem
    uri_match: dict[str, Any] = {}
    try:
        operation_model, uri_match = get_service_router(service).match(request)
        operation = operation_model.name
    except (NotFound, HTTPException):
        action = request.values.get("Action") or (request.headers.get("X-Amz-Target") or "").split(".")[-1]
        operation = action or f"{request.method} {request.path}"
    call.operation = operation
    try:
        call.operation_model = model.operation_model(operation)
    except OperationNotFoundError as problem:
        raise AwsError(
            "InvalidAction" if call.protocol in ("ec2", "query") else "UnknownOperationException",
            f"The action {operation} is not valid for this web service.",
        ) from problem
    if service == "s3" and operation in ("PutObject", "UploadPart"):
        # The body is data, often in signed chunks: moto reads it, no rule needs it.
        call.params = dict(uri_match.items())
        return call
    parser = PROTOCOL_PARSERS[call.protocol](call.operation_model)
    call.params = (
        parser.parse(
            {
                "method": request.method,
                "values": request.values,
                "headers": request.headers,
                "body": request.data if call.protocol not in ("ec2", "query") else b"",
                "url_path": request.path,
                "url_params": uri_match,
            }
        )
        or {}
    )
    return call


def render_result(call: ApiCall, result: Any) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of a success."""
    serializer = get_serializer_class(call.service, call.protocol)(
        operation_model=call.operation_model, value_picker=XFormedAttributePicker()
    )
    response = serializer.serialize(result if result is not None else {})
    body = response["body"]
    return response["status_code"], dict(response["headers"]), body.encode("utf-8") if isinstance(body, str) else body


def _scope_of(environ: dict[str, Any]) -> tuple[str, str]:
    match = _SCOPE.search(environ.get("HTTP_AUTHORIZATION", ""))
    if match is None:
        from urllib.parse import parse_qs

        credential = parse_qs(environ.get("QUERY_STRING", "")).get("X-Amz-Credential", [""])[0]
        match = _QUERY_SCOPE.match(credential)
    if match is None:
        raise AwsError("MissingAuthenticationToken", "Request is missing Authentication Token")
    return match.group(2), match.group(3)
