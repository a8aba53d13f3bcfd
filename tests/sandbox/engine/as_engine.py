"""The provider double called as the engine calls it, without an engine."""

from typing import Any

import grpc
from gpukit_sandbox.provider.server import AwsProvider
from gpukit_sandbox.provider.values import Properties, from_struct, to_struct
from pulumi.runtime.proto import provider_pb2

REGION = "us-east-1"


class Aborted(Exception):
    """What the engine would see as an error."""

    def __init__(self, code: grpc.StatusCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class Context:
    """A gRPC context that raises what it is told to abort with."""

    def __init__(self) -> None:
        self.metadata: Any = None

    def code(self) -> None:
        return None

    def set_trailing_metadata(self, metadata: Any) -> None:
        self.metadata = metadata

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        raise Aborted(code, message)


class Double:
    """The provider, asked with plain mappings."""

    def __init__(self, *, region: str = REGION, default_tags: dict[str, str] | None = None) -> None:
        self.provider = AwsProvider()
        settings: Properties = {"region": region}
        if default_tags:
            settings["defaultTags"] = {"tags": default_tags}
        self.provider.Configure(provider_pb2.ConfigureRequest(args=to_struct(settings)), Context())

    @staticmethod
    def urn(token: str, name: str) -> str:
        return f"urn:pulumi:test::test::{token}::{name}"

    def check(
        self, token: str, name: str, news: Properties, olds: Properties | None = None
    ) -> tuple[Properties, dict[str, str]]:
        answer = self.provider.Check(
            provider_pb2.CheckRequest(
                urn=self.urn(token, name),
                type=token,
                name=name,
                olds=to_struct(olds or {}),
                news=to_struct(news),
                randomSeed=name.encode(),
            ),
            Context(),
        )
        return from_struct(answer.inputs), {f.property: f.reason for f in answer.failures}

    def diff(self, token: str, name: str, resource_id: str, state: Properties, old: Properties, new: Properties) -> Any:
        return self.provider.Diff(
            provider_pb2.DiffRequest(
                id=resource_id,
                urn=self.urn(token, name),
                type=token,
                olds=to_struct(state),
                old_inputs=to_struct(old),
                news=to_struct(new),
            ),
            Context(),
        )

    def create(self, token: str, name: str, inputs: Properties, *, preview: bool = False) -> tuple[str, Properties]:
        answer = self.provider.Create(
            provider_pb2.CreateRequest(
                urn=self.urn(token, name), type=token, name=name, properties=to_struct(inputs), preview=preview
            ),
            Context(),
        )
        return answer.id, from_struct(answer.properties)

    def read(
        self, token: str, name: str, resource_id: str, state: Properties, inputs: Properties
    ) -> tuple[str, Properties, Properties]:
        answer = self.provider.Read(
            provider_pb2.ReadRequest(
                id=resource_id,
                urn=self.urn(token, name),
                type=token,
                properties=to_struct(state),
                inputs=to_struct(inputs),
            ),
            Context(),
        )
        return answer.id, from_struct(answer.properties), from_struct(answer.inputs)

    def update(
        self, token: str, name: str, resource_id: str, state: Properties, old: Properties, new: Properties
    ) -> Properties:
        answer = self.provider.Update(
            provider_pb2.UpdateRequest(
                id=resource_id,
                urn=self.urn(token, name),
                type=token,
                olds=to_struct(state),
                old_inputs=to_struct(old),
                news=to_struct(new),
            ),
            Context(),
        )
        return from_struct(answer.properties)

    def delete(self, token: str, name: str, resource_id: str, state: Properties, inputs: Properties) -> None:
        self.provider.Delete(
            provider_pb2.DeleteRequest(
                id=resource_id,
                urn=self.urn(token, name),
                type=token,
                properties=to_struct(state),
                old_inputs=to_struct(inputs),
            ),
            Context(),
        )

    def invoke(self, token: str, arguments: Properties) -> Properties:
        answer = self.provider.Invoke(provider_pb2.InvokeRequest(tok=token, args=to_struct(arguments)), Context())
        return from_struct(getattr(answer, "return"))
