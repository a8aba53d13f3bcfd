"""
Record what a Pulumi program would register, without engine, cloud or credentials.

Runs as a script of its own (`python recorder.py < request.json > recording.json`) and imports nothing but the Pulumi
SDK, so that today's recorder can also record an older revision of the program and of gpukit. Values that a cloud
would give become readable placeholders, the same on every run; secrets never leave this process.
"""

import asyncio
import gc
import hashlib
import json
import os
import runpy
import sys
import traceback
from collections.abc import Mapping
from typing import Any, Final

RECORDING_SCHEMA: Final = 1
SECRET_SIGNATURE: Final = "1b47061264138c4ac30d75fd1eb44270"
SIGNATURE_KEY: Final = "4dabf18193072939515e22adb298388d"
SECRET: Final = "[secret]"
ACCOUNT: Final = "000000000000"
ID_PREFIXES: Final = {
    "aws:ec2/eip:Eip": "eipalloc-",
    "aws:ec2/instance:Instance": "i-",
    "aws:ebs/volume:Volume": "vol-",
    "aws:ec2/launchTemplate:LaunchTemplate": "lt-",
    "aws:ec2/natGateway:NatGateway": "nat-",
    "aws:ec2/internetGateway:InternetGateway": "igw-",
    "aws:ec2/routeTable:RouteTable": "rtb-",
    "aws:ec2/securityGroup:SecurityGroup": "sg-",
    "aws:ec2/subnet:Subnet": "subnet-",
    "aws:ec2/vpc:Vpc": "vpc-",
    "aws:ec2/vpcEndpoint:VpcEndpoint": "vpce-",
    "aws:ec2/capacityReservation:CapacityReservation": "cr-",
    "aws:efs/fileSystem:FileSystem": "fs-",
    "aws:efs/accessPoint:AccessPoint": "fsap-",
    "aws:fsx/lustreFileSystem:LustreFileSystem": "fs-",
    "aws:fsx/dataRepositoryAssociation:DataRepositoryAssociation": "dra-",
}
"""How AWS's ids of these begin; programs check the form. Source: EC2, EFS and FSx API references, 2026-08."""
EXIT_PROGRAM_FAILED: Final = 1
EXIT_NO_PULUMI: Final = 3


def main() -> int:
    """Read a request from stdin, write the recording to stdout; the program's own prints go to stderr."""
    # one short run that loads thousands of classes: looking for garbage among them takes a third of it
    gc.disable()
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    recording_out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    request = json.load(sys.stdin)
    try:
        import pulumi  # noqa: F401
    except ImportError:
        print("the Pulumi SDK is not installed here: pip install 'gpukit[pulumi]'", file=sys.stderr)
        return EXIT_NO_PULUMI
    runpy.run_path(os.path.join(here, "lazy_services.py"))["install"]()
    try:
        recording = record(request)
    except Exception as error:
        print(_explain(error, request.get("program") or ""), file=sys.stderr)
        return EXIT_PROGRAM_FAILED
    json.dump(recording, recording_out, sort_keys=True)
    recording_out.close()
    return 0


def record(request: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return the recording of one program run.

    `request` has `project`, `stack`, `config` (full keys to strings, objects as JSON), `secret_keys`, and `program`: a
    folder or file to run, or None for gpukit's own `deploy()`.
    """
    import pulumi
    import pulumi.runtime
    from pulumi.runtime import mocks as pulumi_mocks
    from pulumi.runtime.stack import run_in_stack

    monitor = _monitor(pulumi_mocks, request)
    asyncio.set_event_loop(asyncio.new_event_loop())
    pulumi.runtime.set_all_config(dict(request.get("config", {})), list(request.get("secret_keys", [])))
    # `set_mocks` makes a root stack of its own; `run_in_stack` makes the one that holds the outputs.
    settings = pulumi_mocks.MockSettings(  # type: ignore[no-untyped-call]
        monitor=monitor,
        monitor_features=set(monitor.GetDeploymentInfo(None).supportedFeatures),
        engine=pulumi_mocks.MockEngine(None),
        project=request["project"],
        stack=request["stack"],
        dry_run=True,
        organization=request.get("organization", "organization"),
        root_directory=request.get("root") or os.getcwd(),
        callbacks=None,
    )
    pulumi.runtime.configure(settings)
    program = request.get("program")

    def run() -> None:
        if program is None:
            from gpukit_components import deploy

            deploy()
            return
        folder = program if os.path.isdir(program) else os.path.dirname(program)
        os.chdir(folder)
        sys.path.insert(0, folder)
        sys.argv = [program]
        runpy.run_path(program, run_name="__main__")

    asyncio.get_event_loop().run_until_complete(run_in_stack(run))
    return {
        "schema_version": RECORDING_SCHEMA,
        "project": request["project"],
        "stack": request["stack"],
        "outputs": monitor.outputs,
        "resources": monitor.recorded,
    }


def _monitor(pulumi_mocks: Any, request: Mapping[str, Any]) -> Any:
    from google.protobuf import json_format  # type: ignore[import-untyped]

    class Answers(pulumi_mocks.Mocks):  # type: ignore[misc]
        """Placeholders for what a cloud would answer."""

        def call(self, args: Any) -> dict[str, Any]:
            return _answer(args.token, dict(args.args), str(request.get("config", {}).get("aws:region", "us-east-1")))

        def new_resource(self, args: Any) -> tuple[str | None, dict[str, Any]]:
            if not args.custom:
                return None, dict(args.inputs)
            word = _word(args.typ, args.name)
            return args.resource_id or _placeholder_id(args.typ, word), {
                "arn": f"arn:aws:offline:::{word}",
                **args.inputs,
            }

    class Recorder(pulumi_mocks.MockMonitor):  # type: ignore[misc]
        """Keeps every registration as it came over the wire."""

        def __init__(self) -> None:
            super().__init__(Answers())
            self.recorded: list[dict[str, Any]] = []
            self.outputs: dict[str, Any] = {}

        def make_urn(self, parent: str, type_: str, name: str) -> str:
            """Return the URN as the engine makes it: all parents' types but the stack's."""
            import pulumi

            types = type_
            if parent and "::pulumi:pulumi:Stack::" not in parent:
                types = f"{parent.split('::')[2]}${type_}"
            return f"urn:pulumi:{pulumi.get_stack()}::{pulumi.get_project()}::{types}::{name}"

        def RegisterResource(self, request: Any) -> Any:  # noqa: N802
            response = super().RegisterResource(request)
            if request.type != "pulumi:pulumi:Stack":
                self.recorded.append(_registration(request, response, json_format))
            return response

        def RegisterResourceOutputs(self, request: Any) -> Any:  # noqa: N802
            if "::pulumi:pulumi:Stack::" in request.urn:
                self.outputs = _without_secrets(json_format.MessageToDict(request.outputs))
            return super().RegisterResourceOutputs(request)

    return Recorder()


def _registration(request: Any, response: Any, json_format: Any) -> dict[str, Any]:
    parents = {"parent": request.parent} if request.parent and "::pulumi:pulumi:Stack::" not in request.parent else {}
    return {
        "urn": response.urn,
        "id": response.id,
        "arn": str(dict(json_format.MessageToDict(response.object)).get("arn", "")) if request.custom else "",
        "type": request.type,
        "name": request.name,
        "custom": bool(request.custom),
        "inputs": _without_secrets(json_format.MessageToDict(request.object)),
        "protect": bool(request.protect),
        "retain": bool(request.retainOnDelete),
        "delete_before_replace": bool(request.deleteBeforeReplace),
        "ignore_changes": list(request.ignoreChanges),
        "replace_on_changes": list(request.replaceOnChanges),
        "aliases": [*request.aliasURNs, *(_alias(alias, request) for alias in request.aliases)],
        "dependencies": {
            name: sorted(dependencies.urns) for name, dependencies in sorted(request.propertyDependencies.items())
        },
        **parents,
    }


def _alias(alias: Any, request: Any) -> str:
    """Return an alias as the URN it stands for; a part that it leaves out is the resource's own."""
    import pulumi

    if alias.urn:
        return str(alias.urn)
    spec = alias.spec
    parent = "" if spec.noParent else (spec.parentUrn or request.parent)
    types = ""
    if parent and "::pulumi:pulumi:Stack::" not in parent:
        types = parent.split("::")[2] + "$"
    return "::".join(
        [
            f"urn:pulumi:{spec.stack or pulumi.get_stack()}",
            spec.project or pulumi.get_project(),
            types + (spec.type or request.type),
            spec.name or request.name,
        ]
    )


def _without_secrets(value: Any) -> Any:
    if isinstance(value, dict):
        if value.get(SIGNATURE_KEY) == SECRET_SIGNATURE:
            return SECRET
        return {key: _without_secrets(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_secrets(item) for item in value]
    return value


def _answer(token: str, arguments: dict[str, Any], region: str) -> dict[str, Any]:
    """Return a look-up's placeholder answer: the arguments, and what programs usually read from it."""
    function = token.rsplit(":", 1)[-1]
    word = _word(token, json.dumps(arguments, sort_keys=True, default=str))
    image = "ami-" + hashlib.sha256(word.encode()).hexdigest()[:17]
    known: dict[str, dict[str, Any]] = {
        "getCallerIdentity": {
            "accountId": ACCOUNT,
            "arn": f"arn:aws:iam::{ACCOUNT}:user/offline",
            "userId": "offline",
            "id": ACCOUNT,
        },
        "getRegion": {"name": region, "region": region, "id": region},
        "getPartition": {"partition": "aws", "dnsSuffix": "amazonaws.com", "id": "aws"},
        "getAvailabilityZones": {"names": [f"{region}{letter}" for letter in "abc"], "id": region},
        "getAmi": {"id": image, "imageId": image, "arn": f"arn:aws:offline:::{word}"},
        "getParameter": {"value": f"value-of-{word}", "arn": f"arn:aws:offline:::{word}"},
    }
    return {"id": f"id-of-{word}", **arguments, **known.get(function, {})}


def _placeholder_id(token: str, word: str) -> str:
    """Return an id in AWS's form where the type has one, else a readable word."""
    prefix = ID_PREFIXES.get(token)
    if prefix is None:
        return f"id-of-{word}"
    return prefix + hashlib.sha256(f"{token}::{word}".encode()).hexdigest()[:17]


def _word(token: str, name: str) -> str:
    """Return a readable word for a placeholder, different for every type and name."""
    digest = hashlib.sha256(f"{token}::{name}".encode()).hexdigest()[:6]
    readable = "".join(character if character.isalnum() or character in "-_." else "-" for character in name)[:40]
    return f"{readable}-{digest}" if not name.startswith("{") else f"{token.rsplit(':', 1)[-1]}-{digest}"


def _explain(error: Exception, program: str) -> str:
    """Return the program's error with its own frames only; an error that speaks to people comes without frames."""
    if type(error).__name__ in (
        "RunError",
        "InputPropertiesError",
        "InputPropertyError",
        "ConfigMissingError",
        "PlanRefused",
    ):
        return str(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not program or program in frame.filename]
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{place}"


if __name__ == "__main__":
    sys.exit(main())
