"""EC2 Image Builder: components, recipes, infrastructure and distribution configurations, with the order in which they may go."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

import yaml

from gpukit_sandbox.cloud import hardware
from gpukit_sandbox.cloud.ec2_launch_rules import find_image, find_subnet
from gpukit_sandbox.cloud.ec2_launches import backend_of
from gpukit_sandbox.cloud.ec2_templates import MAX_USER_DATA_BYTES
from gpukit_sandbox.cloud.ec2_volumes import check_volume
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, arn

COMPONENTS: Final = "imagebuilder-components"
RECIPES: Final = "imagebuilder-image-recipes"
CONTAINER_RECIPES: Final = "imagebuilder-container-recipes"
INFRASTRUCTURES: Final = "imagebuilder-infrastructure-configurations"
DISTRIBUTIONS: Final = "imagebuilder-distribution-configurations"
PIPELINES: Final = "imagebuilder-pipelines"
IMAGES: Final = "imagebuilder-images"
MAX_COMPONENTS: Final = 20
PHASES: Final = ("build", "validate", "test")
_IB_DOC: Final = (
    "Image Builder API reference and User Guide: component documents, recipes, infrastructure configurations"
)

_KIND_OF: Final = {
    "component": COMPONENTS,
    "image-recipe": RECIPES,
    "container-recipe": CONTAINER_RECIPES,
    "infrastructure-configuration": INFRASTRUCTURES,
    "distribution-configuration": DISTRIBUTIONS,
    "image-pipeline": PIPELINES,
    "image": IMAGES,
}


def bad(message: str, code: str = "InvalidParameterValueException") -> AwsError:
    """Return Image Builder's refusal of a value."""
    return AwsError(code, message)


def find(call: ApiCall, identifier: str) -> dict[str, Any]:
    """Return a resource by ARN; `x` in a version is the newest one that fits. Raises ResourceNotFoundException."""
    match = re.fullmatch(r"arn:aws[^:]*:imagebuilder:[^:]+:[^:]+:([a-z-]+)/(.+)", identifier)
    table = call.world.table(call.region, _KIND_OF[match.group(1)]) if match and match.group(1) in _KIND_OF else {}
    if identifier in table:
        found: dict[str, Any] = table[identifier]
        return found
    pattern = re.escape(identifier).replace(r"/x\.x\.x", r"/\d+\.\d+\.\d+").replace(r"\.x", r"\.\d+") + r"(/\d+)?"
    fitting = [each for key, each in table.items() if re.fullmatch(pattern, key)]
    if not fitting:
        raise AwsError("ResourceNotFoundException", f"The resource with ARN '{identifier}' does not exist.")
    newest: dict[str, Any] = max(
        fitting, key=lambda each: [int(part) for part in re.findall(r"\d+", str(each.get("version", "0")))]
    )
    return newest


def slug(name: str) -> str:
    """Return a name as it stands in an ARN."""
    return name.lower().replace(" ", "-").replace("_", "-")


def check_dry_run(call: ApiCall) -> None:
    """Answer a dry run that passed every rule."""
    if call.params.get("dryRun"):
        raise AwsError("DryRunOperationException", "Request would have succeeded, but the dryRun flag is set.")


@rule("imagebuilder", "CreateComponent", source=_IB_DOC)
def component_document_is_valid(call: ApiCall) -> None:
    """Data or a URI, not both; three numbers as version; a document of schema 1.0 with phases of known names and named steps."""
    params = call.params
    if bool(params.get("data")) == bool(params.get("uri")):
        raise bad("Exactly one of data and uri must be given.", "InvalidParameterCombinationException")
    if params.get("data"):
        _check_document(params["data"])
    if params.get("platform") not in ("Linux", "Windows", "macOS"):
        raise bad(f"Platform {params.get('platform')} is not valid.")
    identifier = _versioned(call, "component", build=True)
    if identifier in call.world.table(call.region, COMPONENTS):
        raise AwsError(
            "ResourceAlreadyExistsException", f"The following resource 'Component' already exists: '{identifier}'."
        )


def _check_document(text: str) -> None:
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as problem:
        raise bad("The component document is not valid YAML.", "InvalidRequestException") from problem
    if not isinstance(document, dict) or "phases" not in document:
        raise bad("The component document needs phases.", "InvalidRequestException")
    if str(document.get("schemaVersion")) != "1.0":
        raise bad("The schemaVersion of a component document is 1.0.", "InvalidRequestException")
    for phase in document["phases"] or []:
        if not isinstance(phase, dict) or phase.get("name") not in PHASES:
            raise bad(f"A phase is named {', '.join(PHASES)}.", "InvalidRequestException")
        steps = phase.get("steps")
        if not isinstance(steps, list) or not steps:
            raise bad(f"The phase {phase['name']} needs steps.", "InvalidRequestException")
        names = [each.get("name") if isinstance(each, dict) else None for each in steps]
        if None in names or len(set(names)) != len(names):
            raise bad("Steps need names of their own.", "InvalidRequestException")
        if any(not each.get("action") for each in steps):
            raise bad("Steps need an action.", "InvalidRequestException")


@action("imagebuilder", "CreateComponent")
def create_component(call: ApiCall) -> dict[str, Any]:
    """Make a component."""
    check_dry_run(call)
    params = call.params
    identifier = _versioned(call, "component", build=True)
    call.world.table(call.region, COMPONENTS)[identifier] = {
        "arn": identifier,
        "name": params["name"],
        "version": params["semanticVersion"],
        "description": params.get("description"),
        "changeDescription": params.get("changeDescription"),
        "type": "BUILD",
        "platform": params["platform"],
        "supportedOsVersions": params.get("supportedOsVersions"),
        "state": {"status": "ACTIVE"},
        "owner": ACCOUNT_ID,
        "data": params.get("data"),
        "kmsKeyId": params.get("kmsKeyId"),
        "encrypted": True,
        "dateCreated": stamp(call),
        "tags": dict(params.get("tags") or {}),
    }
    return {"requestId": call.request_id, "clientToken": params["clientToken"], "componentBuildVersionArn": identifier}


@rule("imagebuilder", "CreateImageRecipe", source=_IB_DOC)
def recipe_is_valid(call: ApiCall) -> None:
    """A base image that exists, at most twenty components that exist, volumes that EBS takes, user data of at most 16 KB."""
    params = call.params
    components = params.get("components") or []
    if len(components) > MAX_COMPONENTS:
        raise AwsError("ServiceQuotaExceededException", f"A recipe takes at most {MAX_COMPONENTS} components.")
    for each in components:
        identifier = each["componentArn"]
        if f":{ACCOUNT_ID}:" in identifier:
            find(call, identifier)
    check_parent(call, params["parentImage"])
    seen = set()
    for each in params.get("blockDeviceMappings") or []:
        if each.get("deviceName") in seen:
            raise bad(f"The device {each.get('deviceName')} is given twice.", "InvalidRequestException")
        seen.add(each.get("deviceName"))
        ebs = each.get("ebs") or {}
        if ebs.get("volumeSize"):
            try:
                check_volume(
                    ebs.get("volumeType") or "gp2",
                    int(ebs["volumeSize"]),
                    iops=ebs.get("iops"),
                    throughput=ebs.get("throughput"),
                )
            except AwsError as problem:
                raise bad(problem.message) from problem
    override = (params.get("additionalInstanceConfiguration") or {}).get("userDataOverride")
    if override:
        try:
            raw = base64.b64decode(override, validate=True)
        except (binascii.Error, ValueError) as problem:
            raise bad("userDataOverride is not base64.") from problem
        if len(raw) > MAX_USER_DATA_BYTES:
            raise bad(f"userDataOverride is limited to {MAX_USER_DATA_BYTES} bytes.")
    identifier = _versioned(call, "image-recipe")
    if identifier in call.world.table(call.region, RECIPES):
        raise AwsError(
            "ResourceAlreadyExistsException", f"The following resource 'ImageRecipe' already exists: '{identifier}'."
        )


def check_parent(call: ApiCall, parent: str) -> str:
    """Return the id of the AMI that a recipe starts from. Raises InvalidParameterValueException."""
    backend = backend_of(call.region)
    if parent.startswith(("ami-", "ssm:")):
        try:
            return str(
                find_image(
                    backend, parent.replace("ssm:", "resolve:ssm:", 1) if parent.startswith("ssm:") else parent
                ).id
            )
        except AwsError as problem:
            raise bad(f"The parent image {parent} is not available: {problem.message}") from problem
    match = re.fullmatch(r"arn:aws[^:]*:imagebuilder:[^:]+:([^:]+):image/[a-z0-9-_]+/.+", parent)
    if match is None:
        raise bad(f"The parent image {parent} is neither an AMI ID, an SSM parameter nor an image ARN.")
    if match.group(1) == ACCOUNT_ID:
        find(call, parent)
    return ""


@action("imagebuilder", "CreateImageRecipe")
def create_image_recipe(call: ApiCall) -> dict[str, Any]:
    """Make a recipe; without components it bakes the base image as it is."""
    check_dry_run(call)
    params = call.params
    identifier = _versioned(call, "image-recipe")
    record = {
        key: params.get(key)
        for key in (
            "name",
            "description",
            "components",
            "parentImage",
            "blockDeviceMappings",
            "workingDirectory",
            "additionalInstanceConfiguration",
            "amiTags",
        )
    }
    record |= {
        "arn": identifier,
        "type": "AMI",
        "platform": "Linux",
        "owner": ACCOUNT_ID,
        "version": params["semanticVersion"],
        "dateCreated": stamp(call),
        "tags": dict(params.get("tags") or {}),
    }
    call.world.table(call.region, RECIPES)[identifier] = record
    return {"requestId": call.request_id, "clientToken": params["clientToken"], "imageRecipeArn": identifier}


@rule("imagebuilder", "CreateInfrastructureConfiguration", "UpdateInfrastructureConfiguration", source=_IB_DOC)
def infrastructure_is_valid(call: ApiCall) -> None:
    """A subnet needs security groups, both exist, and so do the instance types."""
    params = call.params
    if params.get("subnetId") and not params.get("securityGroupIds"):
        raise bad("securityGroupIds are required when subnetId is given.", "InvalidRequestException")
    if params.get("subnetId"):
        try:
            subnet = find_subnet(backend_of(call.region), params["subnetId"])
        except AwsError as problem:
            raise bad(problem.message) from problem
        for each in params["securityGroupIds"]:
            group = backend_of(call.region).get_security_group_from_id(each)
            if group is None or group.vpc_id != subnet.vpc_id:
                raise bad(f"The security group {each} does not exist in the VPC of the subnet.")
    for each in params.get("instanceTypes") or []:
        if hardware.describe_type(each) is None:
            raise bad(f"The instance type {each} does not exist.")
    if call.operation.startswith("Create"):
        identifier = arn("imagebuilder", call.region, f"infrastructure-configuration/{slug(params['name'])}")
        if identifier in call.world.table(call.region, INFRASTRUCTURES):
            raise AwsError(
                "ResourceAlreadyExistsException",
                f"The following resource 'InfrastructureConfiguration' already exists: '{identifier}'.",
            )


_INFRASTRUCTURE_FIELDS: Final = (
    "description",
    "instanceTypes",
    "instanceProfileName",
    "securityGroupIds",
    "subnetId",
    "logging",
    "keyPair",
    "terminateInstanceOnFailure",
    "snsTopicArn",
    "resourceTags",
    "instanceMetadataOptions",
    "placement",
)


@action("imagebuilder", "CreateInfrastructureConfiguration")
def create_infrastructure_configuration(call: ApiCall) -> dict[str, Any]:
    """Say where images are built."""
    check_dry_run(call)
    identifier = arn("imagebuilder", call.region, f"infrastructure-configuration/{slug(call.params['name'])}")
    record = {key: call.params.get(key) for key in _INFRASTRUCTURE_FIELDS}
    record |= {
        "arn": identifier,
        "name": call.params["name"],
        "dateCreated": stamp(call),
        "tags": dict(call.params.get("tags") or {}),
    }
    record["terminateInstanceOnFailure"] = record["terminateInstanceOnFailure"] is not False
    call.world.table(call.region, INFRASTRUCTURES)[identifier] = record
    return {
        "requestId": call.request_id,
        "clientToken": call.params["clientToken"],
        "infrastructureConfigurationArn": identifier,
    }


@action("imagebuilder", "UpdateInfrastructureConfiguration")
def update_infrastructure_configuration(call: ApiCall) -> dict[str, Any]:
    """Replace a configuration's settings."""
    record = find(call, call.params["infrastructureConfigurationArn"])
    record.update({key: call.params.get(key) for key in _INFRASTRUCTURE_FIELDS})
    record["dateUpdated"] = stamp(call)
    return {
        "requestId": call.request_id,
        "clientToken": call.params["clientToken"],
        "infrastructureConfigurationArn": record["arn"],
    }


@rule(
    "imagebuilder",
    "CreateDistributionConfiguration",
    "UpdateDistributionConfiguration",
    source="Image Builder API reference, Distribution",
)
def distributions_are_valid(call: ApiCall) -> None:
    """At least one Region, each once, with something to distribute."""
    distributions = call.params.get("distributions") or []
    if not distributions:
        raise bad("distributions needs at least one entry.", "InvalidParameterException")
    regions = [each.get("region") for each in distributions]
    if len(set(regions)) != len(regions):
        raise bad("A Region is given twice in distributions.", "InvalidParameterCombinationException")
    if call.operation.startswith("Create"):
        identifier = arn("imagebuilder", call.region, f"distribution-configuration/{slug(call.params['name'])}")
        if identifier in call.world.table(call.region, DISTRIBUTIONS):
            raise AwsError(
                "ResourceAlreadyExistsException",
                f"The following resource 'DistributionConfiguration' already exists: '{identifier}'.",
            )


@action("imagebuilder", "CreateDistributionConfiguration")
def create_distribution_configuration(call: ApiCall) -> dict[str, Any]:
    """Say where images go."""
    check_dry_run(call)
    params = call.params
    identifier = arn("imagebuilder", call.region, f"distribution-configuration/{slug(params['name'])}")
    call.world.table(call.region, DISTRIBUTIONS)[identifier] = {
        "arn": identifier,
        "name": params["name"],
        "description": params.get("description"),
        "distributions": params["distributions"],
        "timeoutMinutes": 720,
        "dateCreated": stamp(call),
        "tags": dict(params.get("tags") or {}),
    }
    return {
        "requestId": call.request_id,
        "clientToken": params["clientToken"],
        "distributionConfigurationArn": identifier,
    }


@action("imagebuilder", "UpdateDistributionConfiguration")
def update_distribution_configuration(call: ApiCall) -> dict[str, Any]:
    """Replace a configuration's settings."""
    record = find(call, call.params["distributionConfigurationArn"])
    record.update(
        {
            "description": call.params.get("description"),
            "distributions": call.params["distributions"],
            "dateUpdated": stamp(call),
        }
    )
    return {
        "requestId": call.request_id,
        "clientToken": call.params["clientToken"],
        "distributionConfigurationArn": record["arn"],
    }


@action("imagebuilder", "GetComponent")
def get_component(call: ApiCall) -> dict[str, Any]:
    """Return a component."""
    return {"requestId": call.request_id, "component": shown(find(call, call.params["componentBuildVersionArn"]))}


@action("imagebuilder", "GetImageRecipe")
def get_image_recipe(call: ApiCall) -> dict[str, Any]:
    """Return a recipe."""
    return {"requestId": call.request_id, "imageRecipe": shown(find(call, call.params["imageRecipeArn"]))}


@action("imagebuilder", "GetInfrastructureConfiguration")
def get_infrastructure_configuration(call: ApiCall) -> dict[str, Any]:
    """Return a configuration."""
    return {
        "requestId": call.request_id,
        "infrastructureConfiguration": shown(find(call, call.params["infrastructureConfigurationArn"])),
    }


@action("imagebuilder", "GetDistributionConfiguration")
def get_distribution_configuration(call: ApiCall) -> dict[str, Any]:
    """Return a configuration."""
    return {
        "requestId": call.request_id,
        "distributionConfiguration": shown(find(call, call.params["distributionConfigurationArn"])),
    }


@action("imagebuilder", "ListComponents")
def list_components(call: ApiCall) -> dict[str, Any]:
    """Return the account's components."""
    return {
        "requestId": call.request_id,
        "componentVersionList": [shown(each) for each in call.world.table(call.region, COMPONENTS).values()],
    }


@action("imagebuilder", "ListImageRecipes")
def list_image_recipes(call: ApiCall) -> dict[str, Any]:
    """Return the account's recipes."""
    return {
        "requestId": call.request_id,
        "imageRecipeSummaryList": [shown(each) for each in call.world.table(call.region, RECIPES).values()],
    }


@action("imagebuilder", "ListInfrastructureConfigurations")
def list_infrastructure_configurations(call: ApiCall) -> dict[str, Any]:
    """Return the account's infrastructure configurations."""
    return {
        "requestId": call.request_id,
        "infrastructureConfigurationSummaryList": [
            shown(each) for each in call.world.table(call.region, INFRASTRUCTURES).values()
        ],
    }


@action("imagebuilder", "ListDistributionConfigurations")
def list_distribution_configurations(call: ApiCall) -> dict[str, Any]:
    """Return the account's distribution configurations."""
    return {
        "requestId": call.request_id,
        "distributionConfigurationSummaryList": [
            shown(each) for each in call.world.table(call.region, DISTRIBUTIONS).values()
        ],
    }


@action("imagebuilder", "DeleteComponent")
def delete_component(call: ApiCall) -> dict[str, Any]:
    """Delete a component that no recipe uses."""
    record = find(call, call.params["componentBuildVersionArn"])
    plain = record["arn"].rsplit("/", 1)[0]
    used = [
        each["arn"]
        for kind in (RECIPES, CONTAINER_RECIPES)
        for each in call.world.table(call.region, kind).values()
        for one in each.get("components") or []
        if one["componentArn"] in (record["arn"], plain)
    ]
    _require_unused(record, used)
    del call.world.table(call.region, COMPONENTS)[record["arn"]]
    return {"requestId": call.request_id, "componentBuildVersionArn": record["arn"]}


@action("imagebuilder", "DeleteImageRecipe")
def delete_image_recipe(call: ApiCall) -> dict[str, Any]:
    """Delete a recipe that no pipeline uses."""
    record = find(call, call.params["imageRecipeArn"])
    _require_unused(record, _pipelines_with(call, "imageRecipeArn", record["arn"]))
    del call.world.table(call.region, RECIPES)[record["arn"]]
    return {"requestId": call.request_id, "imageRecipeArn": record["arn"]}


@action("imagebuilder", "DeleteInfrastructureConfiguration")
def delete_infrastructure_configuration(call: ApiCall) -> dict[str, Any]:
    """Delete a configuration that no pipeline uses."""
    record = find(call, call.params["infrastructureConfigurationArn"])
    _require_unused(record, _pipelines_with(call, "infrastructureConfigurationArn", record["arn"]))
    del call.world.table(call.region, INFRASTRUCTURES)[record["arn"]]
    return {"requestId": call.request_id, "infrastructureConfigurationArn": record["arn"]}


@action("imagebuilder", "DeleteDistributionConfiguration")
def delete_distribution_configuration(call: ApiCall) -> dict[str, Any]:
    """Delete a configuration that no pipeline uses."""
    record = find(call, call.params["distributionConfigurationArn"])
    _require_unused(record, _pipelines_with(call, "distributionConfigurationArn", record["arn"]))
    del call.world.table(call.region, DISTRIBUTIONS)[record["arn"]]
    return {"requestId": call.request_id, "distributionConfigurationArn": record["arn"]}


@action("imagebuilder", "TagResource")
def tag_resource(call: ApiCall) -> dict[str, Any]:
    """Set tags."""
    find(call, call.params["resourceArn"])["tags"].update(call.params.get("tags") or {})
    return {}


@action("imagebuilder", "UntagResource")
def untag_resource(call: ApiCall) -> dict[str, Any]:
    """Remove tags."""
    record = find(call, call.params["resourceArn"])
    for each in call.params.get("tagKeys") or []:
        record["tags"].pop(each, None)
    return {}


@action("imagebuilder", "ListTagsForResource")
def list_tags_for_resource(call: ApiCall) -> dict[str, Any]:
    """Return tags."""
    return {"tags": find(call, call.params["resourceArn"])["tags"]}


def shown(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record as Image Builder describes it."""
    return {key: value for key, value in record.items() if not key.startswith("_") and value not in (None, {}, [])}


def stamp(call: ApiCall) -> str:
    """Return the time as Image Builder writes it."""
    return call.world.now().strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _versioned(call: ApiCall, kind: str, *, build: bool = False) -> str:
    return arn(
        "imagebuilder",
        call.region,
        f"{kind}/{slug(call.params['name'])}/{call.params['semanticVersion']}{'/1' if build else ''}",
    )


def _pipelines_with(call: ApiCall, field: str, value: str) -> list[str]:
    return [each["arn"] for each in call.world.table(call.region, PIPELINES).values() if each.get(field) == value]


def _require_unused(record: Mapping[str, Any], users: list[str]) -> None:
    if users:
        raise AwsError(
            "ResourceDependencyException", f"Resource '{record['arn']}' is in use by {', '.join(sorted(set(users)))}."
        )
