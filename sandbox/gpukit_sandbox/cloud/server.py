"""
The front of the cloud: reads a call, applies faults, the model's own constraints and AWS's rules, answers it or asks moto.

Order, as AWS does it: rate, permission, well-formed, rules, DryRun, effect.
"""

import io
import sys
import traceback
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, Final

from moto.core.responses import BaseResponse
from moto.core.utils import camelcase_to_underscores
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from gpukit_sandbox.cloud import admin, faults, images, model_rules
from gpukit_sandbox.cloud.errors import AwsError, not_implemented, render_error
from gpukit_sandbox.cloud.registry import ACTIONS, RULES
from gpukit_sandbox.cloud.requests import ApiCall, read_call, render_result
from gpukit_sandbox.cloud.state import World

READING_VERBS: Final = ("Describe", "List", "Get", "Head", "Lookup", "Search", "Filter", "BatchGet", "BatchCheck")
SERVICES_WITH_IMAGES: Final = ("ec2", "eks", "autoscaling", "imagebuilder")
_STATUS_TEXT: Final = {
    200: "OK",
    201: "Created",
    202: "Accepted",
    204: "No Content",
    206: "Partial Content",
    400: "Bad Request",
}

StartResponse = Callable[[str, list[tuple[str, str]]], Any]


class Cloud:
    """The WSGI application."""

    def __init__(self, world: World, switchboard: faults.Faults) -> None:
        """Serve a world, with the faults that the switchboard holds."""
        self.world = world
        self.faults = switchboard
        self.moto = DomainDispatcherApplication(create_backend_app)
        load_parts()

    def __call__(self, environ: dict[str, Any], start_response: StartResponse) -> Iterable[bytes]:
        """Answer one HTTP request."""
        body = _read_body(environ)
        if environ.get("PATH_INFO", "").startswith("/_gpukit/"):
            status, headers, content = admin.answer(environ, body, self.world, self.faults)
        else:
            try:
                status, headers, content = self.answer(environ, body)
            except faults.ConnectionLost:
                _hang_up(environ)
                return []
        headers = {name: value for name, value in headers.items() if name.lower() not in ("content-length", "status")}
        if environ.get("REQUEST_METHOD") != "HEAD":
            headers["Content-Length"] = str(len(content))
        start_response(
            f"{status} {_STATUS_TEXT.get(status, 'Status')}", [(name, str(value)) for name, value in headers.items()]
        )
        return [content]

    def answer(self, environ: dict[str, Any], body: bytes) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the answer to one API request."""
        call: ApiCall | None = None
        try:
            call = read_call(environ, body, self.world)
            call.ask_moto = self.ask_moto
            environ["gpukit.faults"] = self.faults
            self.faults.before(call)
            with self.world.lock:
                reply = self._answer_call(call)
                if not call.operation.startswith(READING_VERBS):
                    self.world.version += 1
            self.faults.after(call)
            return reply
        except AwsError as error:
            return self._refuse(call, environ, error)
        except NotImplementedError:
            return self._refuse(
                call, environ, not_implemented(call.service, call.operation) if call else AwsError("NotImplemented", "")
            )
        except faults.ConnectionLost:
            raise
        except Exception as problem:
            traceback.print_exc(file=sys.stderr)
            name = call.action_name if call else environ.get("PATH_INFO", "")
            return self._refuse(
                call, environ, AwsError("InternalError", f"the sandbox failed in {name}: {problem!r}", status=500)
            )

    def _answer_call(self, call: ApiCall) -> tuple[int, dict[str, str], bytes]:
        if call.service in SERVICES_WITH_IMAGES:
            images.ensure_images(self.world, call.region)
        model_rules.check(call)
        for rule in RULES.get((call.service, call.operation), ()):
            rule.check(call)
        handler = ACTIONS.get((call.service, call.operation))
        if handler is not None:
            if call.params.get("DryRun") is True and call.service == "ec2" and call.operation != "RunInstances":
                raise AwsError("DryRunOperation", "Request would have succeeded, but DryRun flag is set.")
            return render_result(call, handler(call))
        return self.ask_moto(call)

    def ask_moto(self, call: ApiCall) -> tuple[int, dict[str, str], bytes]:
        """Return moto's own answer to a call. Raises NotImplemented where moto has no such action, before it can answer something else."""
        if not moto_has(call.service, call.operation):
            raise not_implemented(call.service, call.operation)
        environ = {**call.environ, "wsgi.input": io.BytesIO(call.body)}
        answer: dict[str, Any] = {}

        def start_response(status: str, headers: list[tuple[str, str]], _problem: Any = None) -> None:
            answer["status"] = int(status.split(" ", 1)[0])
            answer["headers"] = dict(headers)

        content = b"".join(self.moto(environ, start_response))
        if answer["status"] == 404 and not content and environ.get("REQUEST_METHOD") != "HEAD":
            raise not_implemented(call.service, call.operation)
        return answer["status"], answer["headers"], content

    def _refuse(
        self, call: ApiCall | None, environ: dict[str, Any], error: AwsError
    ) -> tuple[int, dict[str, str], bytes]:
        if call is not None:
            protocol, service, model, request_id = call.protocol, call.service, call.model, call.request_id
        else:
            protocol, service, model, request_id = (
                _protocol_by_look(environ),
                "",
                None,
                "00000000-0000-0000-0000-000000000000",
            )
        return render_error(error, protocol=protocol, service=service, model=model, request_id=request_id)


@cache
def moto_has(service: str, operation: str) -> bool:
    """Tell whether moto answers an operation. S3's are routed by its own tables, so that they are asked."""
    if service == "s3":
        return True
    responses = import_module(f"moto.{service.replace('-', '')}.responses") if service in _IN_MOTO else None
    method = camelcase_to_underscores(operation)
    classes = (
        [each for each in vars(responses).values() if isinstance(each, type) and issubclass(each, BaseResponse)]
        if responses
        else []
    )
    return any(hasattr(each, method) for each in classes)


_IN_MOTO: Final = frozenset(
    {
        "ec2",
        "iam",
        "kms",
        "logs",
        "cloudwatch",
        "sns",
        "ssm",
        "ecr",
        "efs",
        "sts",
        "autoscaling",
        "eks",
        "fsx",
        "resourcegroupstaggingapi",
    }
)


def load_parts() -> None:
    """Import every module that registers actions and rules."""
    for part in PARTS:
        import_module(f"gpukit_sandbox.cloud.{part}")


PARTS: Final[tuple[str, ...]] = (
    "quotas",
    "seeds",
    "images",
    "ec2_types",
    "ec2_placement",
    "ec2_capacity",
    "ec2_volumes",
    "ec2_templates",
    "ec2_tags",
    "ec2_launches",
    "ec2_topology",
    "resource_groups",
    "autoscaling",
    "eks_clusters",
    "eks_nodegroups",
    "eks_access",
    "eks_updates",
    "eks_addons",
    "sts_identity",
    "ec2_network_rules",
    "fsx_file_systems",
    "fsx_associations",
    "policy_rules",
    "ec2_network_actions",
    "kms_rules",
    "s3_rules",
    "monitoring_rules",
    "ecr_rules",
    "efs_rules",
    "budgets",
    "service_gaps",
    "imagebuilder",
    "imagebuilder_runs",
)
"""The modules that register actions and rules, in the order of their rules."""


def _read_body(environ: dict[str, Any]) -> bytes:
    stream = environ["wsgi.input"]
    length = environ.get("CONTENT_LENGTH")
    if length:
        return bytes(stream.read(int(length)))
    if environ.get("HTTP_TRANSFER_ENCODING", "").lower() == "chunked":
        content = bytes(stream.read())
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        environ["CONTENT_LENGTH"] = str(len(content))
        return content
    return b""


def _protocol_by_look(environ: dict[str, Any]) -> str:
    if environ.get("HTTP_X_AMZ_TARGET"):
        return "json"
    kind = environ.get("CONTENT_TYPE", "")
    if kind.startswith("application/x-www-form-urlencoded"):
        return "ec2" if "/ec2/" in environ.get("HTTP_AUTHORIZATION", "") else "query"
    return "rest-xml" if "/s3/" in environ.get("HTTP_AUTHORIZATION", "") else "rest-json"


def _hang_up(environ: dict[str, Any]) -> None:
    import socket

    connection = environ.get("werkzeug.socket")
    if connection is not None:
        connection.shutdown(socket.SHUT_RDWR)
