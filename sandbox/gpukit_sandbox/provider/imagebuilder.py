"""EC2 Image Builder: components, recipes, infrastructure, distribution, pipelines. The ARN is the id of each."""

import hashlib
import json
from typing import Any, ClassVar

from gpukit_sandbox.provider.resource import Resource
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls

_TAGS = Tagging(
    create_member="tags",
    form="map",
    tag_call="tag_resource",
    untag_call="untag_resource",
    target={"resourceArn": "{id}"},
    tags_member="tags",
    keys_member="tagKeys",
    read_call="list_tags_for_resource",
    read_path="tags",
)


class _Built(Resource):
    service, autoname_max = "imagebuilder", 128
    # Image Builder says in words that something does not exist, under two codes.
    gone = ("ResourceNotFoundException", "ResourceNotFound")
    tagging = _TAGS

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """The client token makes a repeated call harmless."""
        params = super().create_params(calls, inputs)
        params["clientToken"] = hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()[:36]
        return params

    def expected_id(self, calls: Calls, inputs: Properties) -> str | None:
        """AWS makes the ARN."""
        return None

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """The ARN is the id."""
        return {"arn": resource_id}


class Component(_Built):
    """A build component; content and version never change in place."""

    token = "aws:imagebuilder/component:Component"
    create_call, id_from = "create_component", "componentBuildVersionArn"
    read_call, read_args, item = "get_component", {"componentBuildVersionArn": "{id}"}, "component"
    delete_call, delete_args = "delete_component", {"componentBuildVersionArn": "{id}"}
    renames: ClassVar = {"version": "semanticVersion"}
    handles = frozenset({"skipDestroy"})

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """The version is called differently on the way out."""
        return {"arn": resource_id, "version": item.get("version")}


class ImageRecipe(_Built):
    """A recipe; nothing but tags changes in place."""

    token = "aws:imagebuilder/imageRecipe:ImageRecipe"
    create_call, id_from = "create_image_recipe", "imageRecipeArn"
    read_call, read_args, item = "get_image_recipe", {"imageRecipeArn": "{id}"}, "imageRecipe"
    delete_call, delete_args = "delete_image_recipe", {"imageRecipeArn": "{id}"}
    renames: ClassVar = {"version": "semanticVersion"}
    handles = frozenset({"components", "systemsManagerAgent", "userDataBase64"})
    not_sent = frozenset({"components", "systemsManagerAgent", "userDataBase64"})

    def create_params(self, calls: Calls, inputs: Properties) -> dict[str, Any]:
        """Parameters of a component take lists; agent and user data are one structure."""
        params = super().create_params(calls, inputs)
        params["components"] = [
            {
                "componentArn": c["componentArn"],
                **(
                    {"parameters": [{"name": p["name"], "value": [p["value"]]} for p in c["parameters"]]}
                    if c.get("parameters")
                    else {}
                ),
            }
            for c in inputs["components"]
        ]
        settings: dict[str, Any] = {}
        if inputs.get("systemsManagerAgent"):
            settings["systemsManagerAgent"] = {
                "uninstallAfterBuild": bool(inputs["systemsManagerAgent"].get("uninstallAfterBuild"))
            }
        if inputs.get("userDataBase64"):
            settings["userDataOverride"] = inputs["userDataBase64"]
        if settings:
            params["additionalInstanceConfiguration"] = settings
        return params

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Read components and settings back."""
        components = [
            {
                "componentArn": c["componentArn"],
                **(
                    {"parameters": [{"name": p["name"], "value": (p.get("value") or [""])[0]} for p in c["parameters"]]}
                    if c.get("parameters")
                    else {}
                ),
            }
            for c in item.get("components") or []
        ]
        settings = item.get("additionalInstanceConfiguration") or {}
        return {
            "arn": resource_id,
            "version": item.get("version"),
            "components": components,
            "systemsManagerAgent": settings.get("systemsManagerAgent"),
            "userDataBase64": settings.get("userDataOverride"),
        }


class InfrastructureConfiguration(_Built):
    """Where images are built. An update replaces every setting."""

    token = "aws:imagebuilder/infrastructureConfiguration:InfrastructureConfiguration"
    create_call, id_from = "create_infrastructure_configuration", "infrastructureConfigurationArn"
    read_call, item = "get_infrastructure_configuration", "infrastructureConfiguration"
    read_args: ClassVar = {"infrastructureConfigurationArn": "{id}"}
    delete_call, delete_args = "delete_infrastructure_configuration", {"infrastructureConfigurationArn": "{id}"}
    update_call, update_args = "update_infrastructure_configuration", {"infrastructureConfigurationArn": "{id}"}
    update_sends_all = True


class DistributionConfiguration(_Built):
    """Where images go."""

    token = "aws:imagebuilder/distributionConfiguration:DistributionConfiguration"
    create_call, id_from = "create_distribution_configuration", "distributionConfigurationArn"
    read_call, item = "get_distribution_configuration", "distributionConfiguration"
    read_args: ClassVar = {"distributionConfigurationArn": "{id}"}
    delete_call, delete_args = "delete_distribution_configuration", {"distributionConfigurationArn": "{id}"}
    update_call, update_args = "update_distribution_configuration", {"distributionConfigurationArn": "{id}"}
    update_sends_all = True
    renames: ClassVar = {"default": "setDefaultVersion", "fastLaunchConfigurations": "fastLaunchConfigurations"}


class ImagePipeline(_Built):
    """What builds images on a schedule. An update replaces every setting."""

    token = "aws:imagebuilder/imagePipeline:ImagePipeline"
    create_call, id_from = "create_image_pipeline", "imagePipelineArn"
    read_call, read_args, item = "get_image_pipeline", {"imagePipelineArn": "{id}"}, "imagePipeline"
    delete_call, delete_args = "delete_image_pipeline", {"imagePipelineArn": "{id}"}
    update_call, update_args = "update_image_pipeline", {"imagePipelineArn": "{id}"}
    update_sends_all = True
    defaults: ClassVar = {"enhancedImageMetadataEnabled": True, "status": "ENABLED"}
