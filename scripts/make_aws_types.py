"""Write the property names and types of the AWS resources that the sandbox knows, read off the installed pulumi_aws.

    python scripts/make_aws_types.py > sandbox/gpukit_sandbox/provider/aws_types.json

Reads the package's source as syntax, never imports it. Types are written as words: `str`, `int`, `float`, `bool`,
`any`, `[T]` for a list, `{T}` for a map, `#Name` for a nested type listed under `types`.
"""

import ast
import importlib.util
import json
import re
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESOURCES = """
ec2/vpc:Vpc ec2/subnet:Subnet ec2/internetGateway:InternetGateway ec2/natGateway:NatGateway ec2/eip:Eip
ec2/routeTable:RouteTable ec2/route:Route ec2/routeTableAssociation:RouteTableAssociation
ec2/securityGroup:SecurityGroup ec2/defaultSecurityGroup:DefaultSecurityGroup
vpc/securityGroupIngressRule:SecurityGroupIngressRule vpc/securityGroupEgressRule:SecurityGroupEgressRule
ec2/vpcEndpoint:VpcEndpoint ec2/flowLog:FlowLog ec2/placementGroup:PlacementGroup ec2/launchTemplate:LaunchTemplate
ec2/instance:Instance ec2/capacityReservation:CapacityReservation
ec2/capacityBlockReservation:CapacityBlockReservation ec2/volumeAttachment:VolumeAttachment
ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation ec2/vpcDhcpOptions:VpcDhcpOptions
ec2/vpcDhcpOptionsAssociation:VpcDhcpOptionsAssociation ebs/volume:Volume ebs/encryptionByDefault:EncryptionByDefault
iam/role:Role iam/rolePolicy:RolePolicy iam/rolePolicyAttachment:RolePolicyAttachment iam/policy:Policy
iam/instanceProfile:InstanceProfile iam/openIdConnectProvider:OpenIdConnectProvider kms/key:Key kms/alias:Alias
eks/cluster:Cluster eks/nodeGroup:NodeGroup eks/addon:Addon eks/accessEntry:AccessEntry
eks/accessPolicyAssociation:AccessPolicyAssociation eks/podIdentityAssociation:PodIdentityAssociation
fsx/lustreFileSystem:LustreFileSystem fsx/dataRepositoryAssociation:DataRepositoryAssociation
efs/fileSystem:FileSystem efs/mountTarget:MountTarget efs/accessPoint:AccessPoint
efs/fileSystemPolicy:FileSystemPolicy efs/backupPolicy:BackupPolicy s3/bucket:Bucket s3/bucketV2:BucketV2
s3/bucketVersioning:BucketVersioning s3/bucketVersioningV2:BucketVersioningV2
s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration
s3/bucketServerSideEncryptionConfigurationV2:BucketServerSideEncryptionConfigurationV2
s3/bucketPublicAccessBlock:BucketPublicAccessBlock s3/bucketPolicy:BucketPolicy
s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration
s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2 s3/bucketOwnershipControls:BucketOwnershipControls
cloudwatch/logGroup:LogGroup cloudwatch/metricAlarm:MetricAlarm cloudwatch/dashboard:Dashboard
cloudwatch/eventRule:EventRule cloudwatch/eventTarget:EventTarget budgets/budget:Budget sns/topic:Topic
sns/topicSubscription:TopicSubscription sns/topicPolicy:TopicPolicy ssm/parameter:Parameter
scheduler/schedule:Schedule ecr/repository:Repository ecr/lifecyclePolicy:LifecyclePolicy
imagebuilder/component:Component imagebuilder/imageRecipe:ImageRecipe
imagebuilder/infrastructureConfiguration:InfrastructureConfiguration
imagebuilder/distributionConfiguration:DistributionConfiguration imagebuilder/imagePipeline:ImagePipeline
""".split()  # noqa: SIM905 - one name a word reads and sorts better

FUNCTIONS = """
index/getAvailabilityZones:getAvailabilityZones index/getCallerIdentity:getCallerIdentity index/getRegion:getRegion
index/getPartition:getPartition ec2/getAmi:getAmi ssm/getParameter:getParameter ec2/getVpc:getVpc
ec2/getSubnet:getSubnet ec2/getSubnets:getSubnets ec2/getSecurityGroup:getSecurityGroup eks/getCluster:getCluster
iam/getPolicyDocument:getPolicyDocument
""".split()  # noqa: SIM905 - one name a word reads and sorts better

_PRIMITIVES = {"str": "str", "int": "int", "float": "float", "bool": "bool", "Any": "any"}


def main() -> None:
    """Print the table as sorted JSON."""
    found = importlib.util.find_spec("pulumi_aws")
    if found is None or not found.submodule_search_locations:
        sys.exit("pulumi_aws is not installed: run `make setup`")
    package = Path(found.submodule_search_locations[0])
    table: dict[str, Any] = {
        "generator": "scripts/make_aws_types.py",
        "pulumi_aws": version("pulumi_aws"),
        "resources": {},
        "functions": {},
        "types": {},
    }
    for token in RESOURCES:
        table["resources"][f"aws:{token}"] = _read_resource(package, token, table["types"])
    for token in FUNCTIONS:
        table["functions"][f"aws:{token}"] = _read_function(package, token, table["types"])
    json.dump(table, sys.stdout, indent=0, sort_keys=True)
    sys.stdout.write("\n")


def _read_resource(package: Path, token: str, types: dict[str, Any]) -> dict[str, Any]:
    module, kind = token.split("/")[0], token.split(":")[1]
    tree = _module_that_declares(package, f"aws:{token}", token)
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    inputs, required = _properties(classes.get(f"{kind}Args") or classes[f"{kind}InitArgs"])
    outputs, _ = _properties(classes[f"_{kind}State"])
    for annotation in [*inputs.values(), *outputs.values()]:
        _collect_nested(package, module, annotation, types)
    return {
        "inputs": {name: _with_module(word, module) for name, word in inputs.items()},
        "outputs": {name: _with_module(word, module) for name, word in outputs.items()},
        "required": sorted(required),
    }


def _read_function(package: Path, token: str, types: dict[str, Any]) -> dict[str, Any]:
    module, name = token.split("/")[0], token.split(":")[1]
    folder = package if module == "index" else package / module
    tree = ast.parse((folder / f"{_snake(name)}.py").read_text(encoding="utf-8"))
    result = next(
        n for n in tree.body if isinstance(n, ast.ClassDef) and n.name == f"{name[0].upper()}{name[1:]}Result"
    )
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == _snake(name))
    outputs = _getters(result)
    source = ast.unparse(function)
    accepted = re.findall(r"__args__\['(\w+)'\] = ", source)
    for word in outputs.values():
        _collect_nested(package, module, word, types)
    return {"inputs": sorted(accepted), "outputs": {k: _with_module(v, module) for k, v in outputs.items()}}


def _module_that_declares(package: Path, full_token: str, token: str) -> ast.Module:
    module, kind = token.split("/")[0], token.split(":")[1]
    path = package / module / f"{_snake(kind)}.py"
    text = path.read_text(encoding="utf-8")
    if f'@pulumi.type_token("{full_token}")' not in text:
        sys.exit(f"{path} does not declare {full_token}")
    return ast.parse(text)


def _properties(declaration: ast.ClassDef) -> tuple[dict[str, str], set[str]]:
    """Return property name -> type word, and the names that must be given."""
    names = _getter_names(declaration)
    init = next(n for n in declaration.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
    properties, required = {}, set()
    for argument, default in zip(init.args.kwonlyargs, init.args.kw_defaults, strict=True):
        name = names[argument.arg]
        properties[name] = _word(ast.unparse(argument.annotation)) if argument.annotation else "any"
        if default is None:
            required.add(name)
    return properties, required


def _getter_names(declaration: ast.ClassDef) -> dict[str, str]:
    names = {}
    for node in declaration.body:
        if not isinstance(node, ast.FunctionDef):
            continue
        for decorator in node.decorator_list:
            text = ast.unparse(decorator)
            if text == "pulumi.getter":
                names[node.name] = node.name
            elif text.startswith("pulumi.getter(name="):
                names[node.name] = ast.literal_eval(text[len("pulumi.getter(name=") : -1])
    return names


def _getters(declaration: ast.ClassDef) -> dict[str, str]:
    names = _getter_names(declaration)
    return {
        names[n.name]: _word(ast.unparse(n.returns)) if n.returns else "any"
        for n in declaration.body
        if isinstance(n, ast.FunctionDef)
        and n.name in names
        and any("getter" in ast.unparse(d) for d in n.decorator_list)
    }


def _word(annotation: str) -> str:
    text = annotation.strip()
    for wrapper in ("pulumi.Input", "pulumi.InputType", "Optional"):
        if text.startswith(f"{wrapper}[") and text.endswith("]"):
            return _word(text[len(wrapper) + 1 : -1])
    if text.startswith(("Sequence[", "List[")):
        return f"[{_word(text[text.index('[') + 1 : -1])}]"
    if text.startswith("Mapping["):
        return f"{{{_word(text[text.index(',') + 1 : -1])}}}"
    if text.startswith("Union["):
        inner = text[len("Union[") : -1]
        return "str" if "_builtins.str" in inner else _word(inner.split(",")[0])
    if text.startswith(("'", '"')):
        name = (
            text.strip("'\"")
            .removeprefix("outputs.")
            .removeprefix("_inputs.")
            .removesuffix("Dict")
            .removesuffix("Args")
        )
        if text.strip("'\"").startswith(("_enums.", "enums.")) or name.split(".")[0] in ("Region", "_enums"):
            return "str"
        return f"#{name}"
    bare = text.removeprefix("_builtins.")
    return _PRIMITIVES.get(bare, "any")


def _collect_nested(package: Path, module: str, word: str, types: dict[str, Any]) -> None:
    for name in re.findall(r"#(\w+)", word):
        key = f"{module}.{name}"
        if key in types:
            continue
        properties = _nested_properties(package, module, name)
        if properties is None:
            types[key] = None  # an enumeration: any text
            continue
        types[key] = {k: _with_module(v, module) for k, v in properties.items()}
        for inner in properties.values():
            _collect_nested(package, module, inner, types)


_nested_cache: dict[Path, dict[str, ast.ClassDef]] = {}


def _nested_properties(package: Path, module: str, name: str) -> dict[str, str] | None:
    folder = package if module == "index" else package / module
    merged: dict[str, str] = {}
    found = False
    for file, suffix in (("_inputs.py", "Args"), ("outputs.py", "")):
        path = folder / file
        if not path.exists():
            continue
        if path not in _nested_cache:
            tree = ast.parse(path.read_text(encoding="utf-8"))
            _nested_cache[path] = {n.name: n for n in tree.body if isinstance(n, ast.ClassDef)}
        declaration = _nested_cache[path].get(f"{name}{suffix}")
        if declaration is not None:
            found = True
            merged |= {k: v for k, v in _getters(declaration).items() if k not in merged}
    return merged if found else None


def _with_module(word: str, module: str) -> str:
    return re.sub(r"#(\w+)(?!\.)\b", rf"#{module}.\1", word)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().replace("ipv4_", "ipv4_")


if __name__ == "__main__":
    main()
