"""A Pulumi engine that creates nothing and remembers everything."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pulumi
from pulumi.runtime import mocks, rpc, settings
from pulumi.runtime.stack import run_pulumi_func
from pulumi.runtime.sync_await import _sync_await


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One registered resource, with inputs as the engine gets them."""

    type: str
    name: str
    inputs: dict[str, Any]
    protect: bool | None = None
    retain_on_delete: bool | None = None
    parent: str = ""
    depends_on: tuple[str, ...] = ()
    delete_before_replace: bool | None = None
    ignore_changes: tuple[str, ...] = ()

    @property
    def short(self) -> str:
        """The last word of the type: `LaunchTemplate`."""
        return self.type.rsplit(":", 1)[-1]


@dataclass
class Recorder(mocks.Mocks):
    """Answers like AWS in shape, with the resource's own name as id; in a preview nothing but inputs is known."""

    preview: bool = False
    resources: list[Recorded] = field(default_factory=list)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    exports: dict[str, Any] = field(default_factory=dict)

    def of(self, short: str) -> list[Recorded]:
        """All resources of a type, by its last word."""
        return [resource for resource in self.resources if resource.short == short]

    def one(self, short: str, name: str | None = None) -> Recorded:
        """The one resource of a type (and name)."""
        found = [resource for resource in self.of(short) if name is None or resource.name == name]
        assert len(found) == 1, f"{short} {name or ''}: {[resource.name for resource in self.of(short)]}"
        return found[0]

    def new_resource(self, args: pulumi.runtime.MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        inputs = dict(args.inputs)
        if not args.custom or self.preview:
            return None, inputs
        outputs = {
            "arn": f"arn:aws:mock:us-east-1:111122223333:{args.name}",
            "name": args.name,
            "keyId": f"key-{args.name}",
            **inputs,
            **_SHAPES.get(args.typ, lambda name: {})(args.name),
        }
        return _IDS.get(args.typ, f"{args.name}-id"), outputs

    def call(self, args: pulumi.runtime.MockCallArgs) -> dict[Any, Any]:
        self.calls.append((args.token, dict(args.args)))
        return _ANSWERS[args.token](args.args)


class RecordingMonitor(mocks.MockMonitor):
    """The mock engine, which also keeps each resource's options."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._recorder = recorder

    def RegisterResource(self, request: Any) -> Any:  # noqa: N802 - the engine's own name
        if request.type != "pulumi:pulumi:Stack":
            self._recorder.resources.append(
                Recorded(
                    type=request.type,
                    name=request.name,
                    inputs=rpc.deserialize_properties(request.object),
                    protect=request.protect if request.HasField("protect") else None,
                    retain_on_delete=request.retainOnDelete if request.HasField("retainOnDelete") else None,
                    parent=request.parent,
                    depends_on=tuple(request.dependencies),
                    delete_before_replace=request.deleteBeforeReplace if request.deleteBeforeReplaceDefined else None,
                    ignore_changes=tuple(request.ignoreChanges),
                )
            )
        return super().RegisterResource(request)


_SHAPES: dict[str, Callable[[str], dict[str, Any]]] = {
    "aws:eks/cluster:Cluster": lambda name: {
        "endpoint": "https://cluster.example",
        "certificateAuthority": {"data": "Y2E="},
        "kubernetesNetworkConfig": {"serviceIpv4Cidr": "172.20.0.0/16"},
        "vpcConfig": {"clusterSecurityGroupId": "sg-cluster", "subnetIds": []},
    },
    "aws:eks/nodeGroup:NodeGroup": lambda name: {"nodeGroupName": name},
    "aws:ec2/launchTemplate:LaunchTemplate": lambda name: {"latestVersion": 1},
    "aws:fsx/lustreFileSystem:LustreFileSystem": lambda name: {"mountName": "abcdefgh", "dnsName": "fs.example"},
    "aws:efs/fileSystem:FileSystem": lambda name: {"dnsName": "efs.example"},
    "aws:s3/bucket:Bucket": lambda name: {"bucket": f"{name}-1234567"},
    "aws:ec2/instance:Instance": lambda name: {"privateIp": "10.0.0.10"},
}

_IDS = {"aws:ebs/volume:Volume": "vol-0123456789abcdef0"}

_ANSWERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "aws:index/getCallerIdentity:getCallerIdentity": lambda args: {
        "accountId": "111122223333",
        "arn": "arn:aws:iam::111122223333:user/test",
        "id": "111122223333",
        "userId": "test",
    },
    "aws:ec2/getAmi:getAmi": lambda args: {"id": "ami-0fedcba9876543210"},
    "aws:eks/getCluster:getCluster": lambda args: {
        "name": args["name"],
        "endpoint": "https://cluster.example",
        "certificateAuthorities": [{"data": "Y2E="}],
        "kubernetesNetworkConfigs": [{"serviceIpv4Cidr": "172.20.0.0/16"}],
        "vpcConfig": {"clusterSecurityGroupId": "sg-looked-up"},
    },
}


def record(
    program: Callable[[], Any],
    *,
    preview: bool = False,
    config: dict[str, str] | None = None,
    seen: list["Recorder"] | None = None,
) -> Recorder:
    """Run a program and return everything that it registered; raise what it raises (`seen` then holds the engine)."""
    recorder = Recorder(preview=preview)
    if seen is not None:
        seen.append(recorder)
    settings.SETTINGS.outputs.clear()
    asyncio.set_event_loop(asyncio.new_event_loop())
    mocks.set_mocks(recorder, project="gpukit", stack="test", preview=preview, monitor=RecordingMonitor(recorder))
    pulumi.runtime.set_all_config(config or {"aws:region": "us-east-1"})
    stack = settings.get_root_resource()
    # One stack lives through all programs of a process: what an earlier one exported is not this one's.
    getattr(stack, "outputs", {}).clear()
    _sync_await(run_pulumi_func(program))
    recorder.exports = {key: _resolve(value) for key, value in getattr(stack, "outputs", {}).items()}
    return recorder


def unknown() -> pulumi.Output[Any]:
    """Return an output that is not known yet; only inside a recorded program."""

    def answered(value: Any) -> asyncio.Future[Any]:
        future: asyncio.Future[Any] = asyncio.get_event_loop().create_future()
        future.set_result(value)
        return future

    return pulumi.Output(answered(set()), answered(None), answered(False))


def _resolve(value: Any) -> Any:
    return _sync_await(asyncio.ensure_future(pulumi.Output.from_input(value).future(with_unknowns=True)))
