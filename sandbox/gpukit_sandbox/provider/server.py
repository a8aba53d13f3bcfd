"""
`pulumi-resource-aws` of the sandbox: Pulumi's provider protocol over the resource classes.

Plain gRPC with threads, not the SDK's asynchronous provider server: every operation blocks in boto3, and the protocol's parts that
matter here (automatic names, partial creation, cancelling) are not in the SDK's server.
"""

import argparse
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent import futures
from typing import Any, Final

import grpc
from google.protobuf import any_pb2, empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from gpukit_sandbox.errors import SandboxError
from gpukit_sandbox.provider import sdk_types
from gpukit_sandbox.provider.clients import ENDPOINT_VARIABLE, Clients, require_loopback
from gpukit_sandbox.provider.diff import changes
from gpukit_sandbox.provider.naming import fill_name
from gpukit_sandbox.provider.registry import resource_for
from gpukit_sandbox.provider.resource import Resource
from gpukit_sandbox.provider.values import UNKNOWN, Properties, from_struct, has_unknown, project, same_value, to_struct
from gpukit_sandbox.provider.world import Calls, Cancelled, Creations, Refused, World

THREADS: Final = 48
MESSAGE_BYTES: Final = 400 * 1024 * 1024
FINISH_SECONDS: Final = 120.0
PROVIDER_SETTINGS: Final = frozenset(
    {"region", "profile", "defaultTags", "endpoints", "accessKey", "secretKey", "token", "version", "maxRetries"}
)
"""Provider inputs that have a meaning here; those that begin with `skip` or `allowed` are taken without effect."""


class Incomplete(Exception):
    """Something exists but is not what was asked for; the engine must keep its id."""

    def __init__(self, resource_id: str, state: Properties, inputs: Properties, reason: str) -> None:
        """Keep what the engine has to write into its state."""
        super().__init__(reason)
        self.resource_id, self.state, self.inputs = resource_id, state, inputs


def _answers(method: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """Turn exceptions into the protocol's errors: AWS's own words, never a traceback for a refusal."""

    def wrapped(self: Any, request: Any, context: Any) -> Any:
        try:
            return method(self, request, context)
        except Incomplete as problem:
            detail = provider_pb2.ErrorResourceInitFailed(
                id=problem.resource_id,
                properties=to_struct(problem.state),
                inputs=to_struct(problem.inputs),
                reasons=[str(problem)],
            )
            packed = any_pb2.Any()
            packed.Pack(detail)
            status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=str(problem), details=[packed])
            context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
            context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        except Cancelled as problem:
            context.abort(grpc.StatusCode.CANCELLED, str(problem))
        except (Refused, SandboxError, ValueError) as problem:
            context.abort(grpc.StatusCode.UNKNOWN, str(problem))
        except Exception as problem:
            if context.code() is not None:
                raise
            traceback.print_exc()
            context.abort(
                grpc.StatusCode.INTERNAL, f"the sandbox's AWS double failed: {type(problem).__name__}: {problem}"
            )

    return wrapped


class AwsProvider(provider_pb2_grpc.ResourceProviderServicer):
    """The provider. One process serves one configured provider resource."""

    def __init__(self) -> None:
        """Wait for the configuration."""
        self._world: World | None = None
        self._creations = Creations.from_environment()
        self.cancelled = threading.Event()

    # About the plugin

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Take plain values only: no secrets, outputs or references inside them."""
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=False, accept_resources=False, accept_outputs=False
        )

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return the version of the SDK whose types the double knows."""
        return plugin_pb2.PluginInfo(version=sdk_types.sdk_version())

    @_answers
    def GetSchema(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Return a schema of the types that the double knows, enough for `pulumi import`."""
        from gpukit_sandbox.provider.schema import schema_text

        return provider_pb2.GetSchemaResponse(schema=schema_text())

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Stop waiting: calls that left are finished, no new one starts, and then this process ends."""
        if self._world is not None:
            self._world.cancelled.set()
        self.cancelled.set()
        return empty_pb2.Empty()

    # The provider's own configuration

    @_answers
    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refuse an endpoint that is not this machine, unknown settings, and a missing region."""
        news = from_struct(request.news)
        failures = []
        try:
            require_loopback(os.environ.get(ENDPOINT_VARIABLE, ""))
        except SandboxError as problem:
            failures.append(provider_pb2.CheckFailure(property="endpoints", reason=str(problem)))
        for name in sorted(news):
            if name not in PROVIDER_SETTINGS and not name.startswith(("skip", "allowed", "s3Use", "sts", "__")):
                reason = f"the sandbox's AWS double does not know the provider setting {name!r}"
                failures.append(provider_pb2.CheckFailure(property=name, reason=reason))
        if not news.get("region") and not _region_of_environment():
            reason = "missing region configuration: set `aws:region` in the stack or AWS_REGION"
            failures.append(provider_pb2.CheckFailure(property="region", reason=reason))
        news.setdefault("region", _region_of_environment())
        return provider_pb2.CheckResponse(inputs=to_struct(news), failures=failures)

    @_answers
    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Say that another region is another provider."""
        old, new = from_struct(request.old_inputs), from_struct(request.news)
        names = [
            n
            for n in sorted(old.keys() | new.keys())
            if not n.startswith("__") and not same_value(old.get(n), new.get(n))
        ]
        replaces = [n for n in names if n == "region" and old.get(n) and not has_unknown(new.get(n))]
        kind = provider_pb2.DiffResponse.DIFF_SOME if names else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=kind, diffs=names, replaces=replaces)

    @_answers
    def Configure(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Check the endpoint again and keep region and default tags."""
        settings = from_struct(request.args)
        region = settings.get("region") or _region_of_environment()
        tags = settings.get("defaultTags") or {}
        tags = _json_or_value(tags)
        default_tags = tags.get("tags", {}) if isinstance(tags, dict) else {}
        clients = Clients(require_loopback(os.environ.get(ENDPOINT_VARIABLE, "")))
        self._world = World(
            clients, str(region or "us-east-1"), {k: str(v) for k, v in default_tags.items() if not has_unknown(v)}
        )
        return provider_pb2.ConfigureResponse(
            acceptSecrets=False, supportsPreview=True, acceptResources=False, acceptOutputs=False
        )

    # Invokes

    @_answers
    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Answer a look-up."""
        from gpukit_sandbox.provider.invokes import invoke

        answer = invoke(self._configured(), request.tok, from_struct(request.args))
        return provider_pb2.InvokeResponse(**{"return": to_struct(answer)})

    # Resources

    @_answers
    def Check(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Refuse what the type does not have, fill names and defaults."""
        old, new = from_struct(request.olds), from_struct(request.news)
        resource = _resource(_token(request))
        calls = self._calls(new)
        failures = [
            (misfit.path, misfit.reason)
            for misfit in sdk_types.misfits(new, resource.type.inputs)
            if not misfit.path.startswith("__")
        ]
        failures += [
            (name, f"missing required property {name!r}") for name in resource.type.required if new.get(name) is None
        ]
        if not failures:
            failures += resource.not_modelled(calls, new)
        new = {name: value for name, value in new.items() if value is not None}
        new["__defaults"] = []
        fill_name(resource, request, old, new)
        for name, value in resource.defaults.items():
            if name not in new:
                new[name] = value
                new["__defaults"].append(name)
        if "region" in resource.type.inputs and "region" not in new:
            new["region"] = self._configured().region
            new["__defaults"].append("region")
        if not failures:
            failures += list(resource.check(new))
        return provider_pb2.CheckResponse(
            inputs=to_struct(new),
            failures=[provider_pb2.CheckFailure(property=path, reason=reason) for path, reason in failures],
        )

    @_answers
    def Diff(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Compare what was stated with what is stated now, and the default tags with what stands."""
        state, old, new = from_struct(request.olds), from_struct(request.old_inputs), from_struct(request.news)
        self._creations.confirm(request.urn, request.id)
        token = _token(request)
        resource = _resource(token)
        found = changes(token, old, new, resource.replaces_for(old, new), resource.in_place_for(old, new))
        kinds = provider_pb2.PropertyDiff
        detail = {}
        for change in found:
            name = f"{change.kind.upper()}{'_REPLACE' if change.replaces else ''}"
            detail[change.path] = kinds(kind=getattr(kinds, name), inputDiff=True)
        if resource.has_tags and not has_unknown(new.get("tags")) and "tagsAll" in state:
            wanted = resource.all_tags(self._calls(new), new)
            if not same_value(wanted, state["tagsAll"]) and not any(c.top == "tags" for c in found):
                detail["tagsAll"] = kinds(kind=kinds.UPDATE)
        replaced = {change.top for change in found if change.replaces}
        if state.get(resource.status) in resource.stillborn:
            detail[resource.status] = kinds(kind=kinds.UPDATE_REPLACE)
            replaced.add(resource.status)
        replaces = sorted(replaced)
        diffs = sorted({change.top for change in found} | ({"tagsAll", resource.status} & detail.keys()))
        return provider_pb2.DiffResponse(
            changes=provider_pb2.DiffResponse.DIFF_SOME if diffs else provider_pb2.DiffResponse.DIFF_NONE,
            diffs=diffs,
            replaces=replaces,
            detailedDiff=detail,
            hasDetailedDiff=bool(detail),
            deleteBeforeReplace=bool(replaces) and resource.must_go_first(old, new),
        )

    @_answers
    def Create(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Create, or adopt what an interrupted creation left."""
        inputs = from_struct(request.properties)
        resource = _resource(_token(request))
        calls = self._calls(inputs)
        if request.preview:
            return provider_pb2.CreateResponse(properties=to_struct(_previewed(resource, calls, inputs)))
        resource_id = self._adopt(resource, calls, request.urn, inputs)
        if resource_id is None:
            self._creations.begin(request.urn, inputs)
            try:
                resource_id = resource.make(calls, inputs)
            except Refused:
                # a cancelled call may have made something: its note stays, and the next creation looks for it
                self._creations.forget(request.urn)
                raise
            self._creations.made(request.urn, inputs, resource_id)
        try:
            resource.settle(calls, resource_id, inputs)
            state = self._state(resource, calls, resource_id, inputs)
        except (Refused, Cancelled) as problem:
            partial = {k: v for k, v in inputs.items() if k in resource.type.outputs}
            if isinstance(problem, Refused) and problem.code in resource.stillborn:
                partial[resource.status] = problem.code
            raise Incomplete(resource_id, partial, inputs, str(problem)) from problem
        return provider_pb2.CreateResponse(id=resource_id, properties=to_struct(state))

    @_answers
    def Read(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Tell what stands now, for refresh and import."""
        state, inputs = from_struct(request.properties), from_struct(request.inputs)
        self._creations.confirm(request.urn, request.id)
        resource = _resource(_token(request))
        calls = self._calls(inputs or state)
        imported = not inputs
        known = {**resource.import_state(calls, request.id), **state}
        item = resource.find(calls, request.id, {**known, **inputs})
        if item is None:
            return provider_pb2.ReadResponse()
        actual = resource.state(calls, request.id, inputs or known, item)
        actual = {
            **{
                k: v
                for k, v in known.items()
                if k not in actual and k in resource.type.outputs and k not in resource.vanishing
            },
            **actual,
        }
        return provider_pb2.ReadResponse(
            id=request.id,
            properties=to_struct(actual),
            inputs=to_struct(_inputs_of(resource, actual) if imported else _drifted(resource, inputs, actual)),
        )

    @_answers
    def Update(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Change in place; with nothing changed, finish what an interrupted creation left undone."""
        state, old, new = from_struct(request.olds), from_struct(request.old_inputs), from_struct(request.news)
        resource = _resource(_token(request))
        calls = self._calls(new)
        changed = {change.top for change in changes(_token(request), old, new)}
        if resource.has_tags and not same_value(state.get("tagsAll"), resource.all_tags(calls, new)):
            changed.add("tags")
        if request.preview:
            previewed = {
                k: v for k, v in {**state, **new}.items() if k in resource.type.outputs and (k in new or k not in old)
            }
            if changed - {"tags"}:
                previewed |= dict.fromkeys(resource.changes_with_every_update, UNKNOWN)
            if resource.has_tags:
                previewed["tagsAll"] = resource.all_tags(calls, new)
            return provider_pb2.UpdateResponse(properties=to_struct(previewed))
        try:
            # The state of a resource whose creation was interrupted lacks what AWS made, and calls need that.
            state = {**state, **self._state(resource, calls, request.id, {**state, **old})}
            if changed - {"tags"}:
                resource.update(calls, request.id, old, new, state, changed)
            else:
                resource.settle(calls, request.id, new)
                resource.update(calls, request.id, old, new, state, changed)
            fresh = self._state(
                resource, calls, request.id, {**{k: v for k, v in state.items() if k in old and k not in new}, **new}
            )
        except (Refused, Cancelled) as problem:
            raise Incomplete(request.id, state, old, str(problem)) from problem
        return provider_pb2.UpdateResponse(properties=to_struct(fresh))

    @_answers
    def Delete(self, request: Any, context: Any) -> Any:  # noqa: N802
        """Delete; what has gone already is gone."""
        state = from_struct(request.properties)
        resource = _resource(_token(request))
        resource.delete(self._calls(state), request.id, {**from_struct(request.old_inputs), **state})
        self._creations.confirm(request.urn, request.id)
        return empty_pb2.Empty()

    # Helpers

    def _configured(self) -> World:
        if self._world is None:
            raise ValueError("the provider is not configured yet")
        return self._world

    def _calls(self, properties: Properties) -> Calls:
        region = properties.get("region")
        return self._configured().at(region if isinstance(region, str) and region != UNKNOWN else None)

    def _adopt(self, resource: Resource, calls: Calls, urn: str, inputs: Properties) -> str | None:
        note = self._creations.unconfirmed(urn, inputs)
        if note is None:
            return None
        known = note.get("id") or resource.expected_id(calls, inputs)
        if known is None:
            return resource.find_left_over(calls, inputs)
        return str(known) if resource.find(calls, str(known), inputs) is not None else None

    def _state(self, resource: Resource, calls: Calls, resource_id: str, inputs: Properties) -> Properties:
        item = resource.find(calls, resource_id, inputs)
        if item is None:
            raise Refused(f"{resource_id} was made and is gone again", "NotFound")
        return resource.state(calls, resource_id, inputs, item)


def main() -> None:
    """Serve one engine: print the port, then answer until the engine ends this process."""
    parser = argparse.ArgumentParser(prog="pulumi-resource-aws")
    parser.add_argument("engine", nargs="?", default="")
    parser.parse_known_args()
    # Ctrl-C belongs to the engine: it lets running operations finish and then ends this process itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=THREADS),
        options=[("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)],
    )
    provider = AwsProvider()
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(provider, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    provider.cancelled.wait()
    # The engine waits five seconds for a plugin that stays; operations that still run are let finish.
    server.stop(grace=FINISH_SECONDS).wait()
    os._exit(0)


def _token(request: Any) -> str:
    if request.type:
        return str(request.type)
    return str(request.urn).split("::")[2].split("$")[-1]


def _resource(token: str) -> Resource:
    found = resource_for(token)
    if found is None:
        raise ValueError(f"the sandbox's AWS double does not model the resource type {token}")
    return found


def _previewed(resource: Resource, calls: Calls, inputs: Properties) -> Properties:
    outputs = {name: value for name, value in inputs.items() if name in resource.type.outputs}
    if resource.has_tags and not has_unknown(inputs.get("tags")):
        outputs["tagsAll"] = resource.all_tags(calls, inputs)
    return outputs


def _drifted(resource: Resource, inputs: Properties, actual: Properties) -> Properties:
    drifted = {
        name: value if name.startswith("__") else project(value, actual.get(name)) for name, value in inputs.items()
    }
    if resource.has_tags and not same_value(inputs.get("tags"), actual.get("tags")):
        drifted["tags"] = actual.get("tags", {})
    for name in resource.drifts_from_nothing:
        if name not in inputs and not same_value(actual.get(name), None):
            drifted[name] = actual[name]
    return drifted


def _inputs_of(resource: Resource, actual: Properties) -> Properties:
    inputs = {
        name: value
        for name, value in actual.items()
        if name in resource.type.inputs and name not in resource.not_imported
    }
    # a switch that is off is what a program leaves out
    inputs = {name: value for name, value in inputs.items() if value not in ({}, [], "", None, False)}
    inputs["__defaults"] = []
    return inputs


def _region_of_environment() -> str:
    return os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or ""


def _json_or_value(value: Any) -> Any:
    """The engine hands nested settings over as JSON text."""
    if isinstance(value, str) and value[:1] in "{[":
        import json

        return json.loads(value)
    return value


if __name__ == "__main__":
    main()
