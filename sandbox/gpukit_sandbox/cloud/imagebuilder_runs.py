"""Image Builder pipelines and the images that they make: each ends as an AMI that can be launched."""

import re
from datetime import timedelta
from typing import Any, Final

from gpukit_sandbox.cloud.ec2_launches import backend_of
from gpukit_sandbox.cloud.errors import AwsError
from gpukit_sandbox.cloud.imagebuilder import (
    IMAGES,
    PIPELINES,
    bad,
    check_dry_run,
    check_parent,
    find,
    shown,
    slug,
    stamp,
)
from gpukit_sandbox.cloud.images import CloudImage
from gpukit_sandbox.cloud.registry import action, rule
from gpukit_sandbox.cloud.requests import ApiCall
from gpukit_sandbox.cloud.state import ACCOUNT_ID, arn, new_id

_RUN_DOC: Final = "Image Builder API reference, CreateImage and CreateImagePipeline"
_CRON: Final = re.compile(r"cron\(\S+ \S+ \S+ \S+ \S+( \S+)?\)|rate\(\d+ (minute|hour|day)s?\)")
_FIELDS: Final = (
    "description",
    "imageRecipeArn",
    "containerRecipeArn",
    "infrastructureConfigurationArn",
    "distributionConfigurationArn",
    "imageTestsConfiguration",
    "schedule",
    "imageScanningConfiguration",
    "imageTags",
    "executionRole",
    "workflows",
    "loggingConfiguration",
)


@rule("imagebuilder", "CreateImage", "CreateImagePipeline", "UpdateImagePipeline", source=_RUN_DOC)
def image_parts_exist(call: ApiCall) -> None:
    """Exactly one recipe, of an image or a container; recipe, infrastructure and distribution exist; a schedule that parses."""
    params = call.params
    if bool(params.get("imageRecipeArn")) == bool(params.get("containerRecipeArn")):
        raise bad(
            "Exactly one of imageRecipeArn and containerRecipeArn must be given.",
            "InvalidParameterCombinationException",
        )
    for name in (
        "imageRecipeArn",
        "containerRecipeArn",
        "infrastructureConfigurationArn",
        "distributionConfigurationArn",
    ):
        if params.get(name):
            find(call, params[name])
    expression = (params.get("schedule") or {}).get("scheduleExpression")
    if expression and not _CRON.fullmatch(expression):
        raise bad(f"The schedule expression {expression} is not valid.")
    if params.get("workflows") and not params.get("executionRole"):
        raise bad("executionRole is required when workflows are given.", "InvalidParameterCombinationException")
    if call.operation == "CreateImagePipeline":
        identifier = arn("imagebuilder", call.region, f"image-pipeline/{slug(params['name'])}")
        if identifier in call.world.table(call.region, PIPELINES):
            raise AwsError(
                "ResourceAlreadyExistsException",
                f"The following resource 'ImagePipeline' already exists: '{identifier}'.",
            )


@action("imagebuilder", "CreateImagePipeline")
def create_image_pipeline(call: ApiCall) -> dict[str, Any]:
    """Make a pipeline."""
    check_dry_run(call)
    params = call.params
    identifier = arn("imagebuilder", call.region, f"image-pipeline/{slug(params['name'])}")
    record = {key: params.get(key) for key in _FIELDS}
    record |= {
        "arn": identifier,
        "name": params["name"],
        "platform": "Linux",
        "enhancedImageMetadataEnabled": params.get("enhancedImageMetadataEnabled") is not False,
        "status": params.get("status") or "ENABLED",
        "dateCreated": stamp(call),
        "tags": dict(params.get("tags") or {}),
    }
    call.world.table(call.region, PIPELINES)[identifier] = record
    return {"requestId": call.request_id, "clientToken": params["clientToken"], "imagePipelineArn": identifier}


@action("imagebuilder", "UpdateImagePipeline")
def update_image_pipeline(call: ApiCall) -> dict[str, Any]:
    """Replace a pipeline's settings."""
    record = find(call, call.params["imagePipelineArn"])
    record.update({key: call.params.get(key) for key in _FIELDS})
    record["status"], record["dateUpdated"] = call.params.get("status") or record["status"], stamp(call)
    return {"requestId": call.request_id, "clientToken": call.params["clientToken"], "imagePipelineArn": record["arn"]}


@action("imagebuilder", "GetImagePipeline")
def get_image_pipeline(call: ApiCall) -> dict[str, Any]:
    """Return a pipeline."""
    return {"requestId": call.request_id, "imagePipeline": shown(find(call, call.params["imagePipelineArn"]))}


@action("imagebuilder", "ListImagePipelines")
def list_image_pipelines(call: ApiCall) -> dict[str, Any]:
    """Return the account's pipelines."""
    return {
        "requestId": call.request_id,
        "imagePipelineList": [shown(each) for each in call.world.table(call.region, PIPELINES).values()],
    }


@action("imagebuilder", "DeleteImagePipeline")
def delete_image_pipeline(call: ApiCall) -> dict[str, Any]:
    """Delete a pipeline; its images stay."""
    record = find(call, call.params["imagePipelineArn"])
    del call.world.table(call.region, PIPELINES)[record["arn"]]
    return {"requestId": call.request_id, "imagePipelineArn": record["arn"]}


@action("imagebuilder", "CreateImage")
def create_image(call: ApiCall) -> dict[str, Any]:
    """Build an image by its recipe."""
    identifier = _build(call, call.params, pipeline=None)
    return {"requestId": call.request_id, "clientToken": call.params["clientToken"], "imageBuildVersionArn": identifier}


@action("imagebuilder", "StartImagePipelineExecution")
def start_image_pipeline_execution(call: ApiCall) -> dict[str, Any]:
    """Build an image by a pipeline."""
    pipeline = find(call, call.params["imagePipelineArn"])
    if pipeline["status"] != "ENABLED":
        raise AwsError("InvalidRequestException", f"The pipeline {pipeline['name']} is disabled.")
    identifier = _build(call, pipeline, pipeline=pipeline)
    pipeline["dateLastRun"] = stamp(call)
    return {"requestId": call.request_id, "clientToken": call.params["clientToken"], "imageBuildVersionArn": identifier}


@action("imagebuilder", "GetImage")
def get_image(call: ApiCall) -> dict[str, Any]:
    """Return an image: BUILDING until its time has come, then AVAILABLE."""
    record = find(call, call.params["imageBuildVersionArn"])
    _settle(call, record)
    return {"requestId": call.request_id, "image": shown(record)}


@action("imagebuilder", "ListImages")
def list_images(call: ApiCall) -> dict[str, Any]:
    """Return the account's images."""
    return {
        "requestId": call.request_id,
        "imageVersionList": [shown(each) for each in call.world.table(call.region, IMAGES).values()],
    }


@action("imagebuilder", "ListImageBuildVersions")
def list_image_build_versions(call: ApiCall) -> dict[str, Any]:
    """Return the builds of an image."""
    wanted = call.params.get("imageVersionArn", "")
    found = [each for key, each in call.world.table(call.region, IMAGES).items() if key.startswith(wanted.rstrip("/"))]
    for each in found:
        _settle(call, each)
    return {"requestId": call.request_id, "imageSummaryList": [shown(each) for each in found]}


@action("imagebuilder", "ListImagePipelineImages")
def list_image_pipeline_images(call: ApiCall) -> dict[str, Any]:
    """Return the images of a pipeline."""
    pipeline = find(call, call.params["imagePipelineArn"])
    found = [
        each
        for each in call.world.table(call.region, IMAGES).values()
        if each.get("sourcePipelineArn") == pipeline["arn"]
    ]
    for each in found:
        _settle(call, each)
    return {"requestId": call.request_id, "imageSummaryList": [shown(each) for each in found]}


@action("imagebuilder", "DeleteImage")
def delete_image(call: ApiCall) -> dict[str, Any]:
    """Forget an image; its AMI stays, as on AWS."""
    record = find(call, call.params["imageBuildVersionArn"])
    del call.world.table(call.region, IMAGES)[record["arn"]]
    return {"requestId": call.request_id, "imageBuildVersionArn": record["arn"]}


def _build(call: ApiCall, settings: Any, *, pipeline: dict[str, Any] | None) -> str:
    recipe = find(call, settings.get("imageRecipeArn") or settings.get("containerRecipeArn"))
    backend = backend_of(call.region)
    parent_id = check_parent(call, recipe["parentImage"])
    parent = backend.amis.get(parent_id)
    infrastructure = find(call, settings["infrastructureConfigurationArn"])
    _require_profile(infrastructure["instanceProfileName"])
    table = call.world.table(call.region, IMAGES)
    base = arn("imagebuilder", call.region, f"image/{slug(recipe['name'])}/{recipe['version']}")
    number = 1 + sum(1 for key in table if key.startswith(base + "/"))
    identifier = f"{base}/{number}"
    sizes = [
        int(each["ebs"]["volumeSize"])
        for each in recipe.get("blockDeviceMappings") or []
        if (each.get("ebs") or {}).get("volumeSize")
    ]
    image = CloudImage(
        backend,
        identifier=new_id("ami"),
        name=f"{recipe['name']} {call.world.now():%Y-%m-%dT%H-%M-%S.000Z}",
        owner=ACCOUNT_ID,
        architecture=parent.architecture if parent is not None else "x86_64",
        root_device=parent.root_device_name if parent is not None else "/dev/xvda",
        root_gib=sizes[0] if sizes else int(getattr(parent, "root_gib", 8)),
        alias=None,
        public=False,
    )
    image.creation_date = call.world.now().replace(tzinfo=None)
    image.add_tags(
        {"CreatedBy": "EC2 Image Builder", "Ec2ImageBuilderArn": identifier, **(recipe.get("amiTags") or {})}
    )
    faults = call.environ.get("gpukit.faults")
    seconds = faults.creation_seconds("imagebuilder:CreateImage") if faults else 0.0
    table[identifier] = {
        "arn": identifier,
        "type": "AMI",
        "name": recipe["name"],
        "version": f"{recipe['version']}/{number}",
        "platform": "Linux",
        "enhancedImageMetadataEnabled": True,
        "state": {"status": "BUILDING"},
        "imageRecipe": shown(recipe),
        "infrastructureConfiguration": shown(infrastructure),
        "sourcePipelineName": pipeline["name"] if pipeline else None,
        "sourcePipelineArn": pipeline["arn"] if pipeline else None,
        "dateCreated": stamp(call),
        "tags": dict(call.params.get("tags") or {}),
        "buildType": "USER_INITIATED",
        "imageSource": "CUSTOM",
        "_ready_at": call.world.now() + timedelta(seconds=seconds),
        "_ami": image,
    }
    return identifier


def _settle(call: ApiCall, record: dict[str, Any]) -> None:
    if record["state"]["status"] != "BUILDING" or call.world.now() < record["_ready_at"]:
        return
    image = record["_ami"]
    backend_of(call.region).amis[image.id] = image
    record["state"] = {"status": "AVAILABLE"}
    record["outputResources"] = {
        "amis": [{"region": call.region, "image": image.id, "name": image.name, "accountId": ACCOUNT_ID}]
    }


def _require_profile(name: str) -> None:
    from moto.backends import get_backend

    if not any(each.name == name for each in get_backend("iam")[ACCOUNT_ID]["aws"].instance_profiles.values()):
        raise AwsError("InvalidRequestException", f"The instance profile '{name}' does not exist.")
