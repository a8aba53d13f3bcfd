"""Container repositories."""

from typing import Any, ClassVar

from gpukit_sandbox.provider.convert import from_api, to_api
from gpukit_sandbox.provider.resource import Resource, applies
from gpukit_sandbox.provider.sdk_types import nested_type
from gpukit_sandbox.provider.tagging import Tagging
from gpukit_sandbox.provider.values import Properties
from gpukit_sandbox.provider.world import Calls


class Repository(Resource):
    """A repository; its name is its id."""

    token = "aws:ecr/repository:Repository"
    service, autoname_max = "ecr", 256
    create_call = "create_repository"
    read_call, read_args, item = "describe_repositories", {"repositoryNames": ["{id}"]}, "repositories[0]"
    gone = ("RepositoryNotFoundException",)
    renames: ClassVar = {"name": "repositoryName", "arn": "repositoryArn", "repositoryUrl": "repositoryUri"}
    handles = frozenset({"forceDelete"})
    tagging = Tagging(
        create_member="tags",
        tag_call="tag_resource",
        untag_call="untag_resource",
        target={"resourceArn": "{arn}"},
        tags_member="tags",
        keys_member="tagKeys",
        read_call="list_tags_for_resource",
        read_path="tags",
    )
    defaults: ClassVar = {"imageTagMutability": "MUTABLE", "forceDelete": False}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the name."""
        return str(inputs["name"])

    def shape_name(self, name: str) -> str:
        """Repository names are lower case."""
        return name.lower()

    @applies("imageTagMutability", "imageTagMutabilityExclusionFilters", on_create=False)
    def mutability(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch whether tags can move."""
        params = to_api({k: new[k] for k in ("imageTagMutability", "imageTagMutabilityExclusionFilters") if new.get(k)},
                        calls.shape("ecr", "put_image_tag_mutability"))  # fmt: skip
        calls.call("ecr", "put_image_tag_mutability", repositoryName=resource_id, **params)

    @applies("imageScanningConfiguration", on_create=False)
    def scanning(self, calls: Calls, resource_id: str, new: Properties, old: Properties) -> None:
        """Switch scanning on push."""
        value = {"scanOnPush": bool((new.get("imageScanningConfiguration") or {}).get("scanOnPush"))}
        calls.call(
            "ecr", "put_image_scanning_configuration", repositoryName=resource_id, imageScanningConfiguration=value
        )

    def extra(self, calls: Calls, resource_id: str, item: dict[str, Any], state: Properties) -> Properties:
        """Encryption is a list of one in the SDK."""
        encryption = item.get("encryptionConfiguration")
        declared = nested_type("#ecr.RepositoryEncryptionConfiguration") or {}
        return {
            "encryptionConfigurations": [from_api(encryption, declared)] if encryption else None,
            "name": resource_id,
        }

    def remove(self, calls: Calls, resource_id: str, state: Properties) -> None:
        """Delete it; `forceDelete` takes its images along."""
        calls.call("ecr", "delete_repository", repositoryName=resource_id, force=bool(state.get("forceDelete")))


class LifecyclePolicy(Resource):
    """A repository's lifecycle policy; the repository's name is its id."""

    token = "aws:ecr/lifecyclePolicy:LifecyclePolicy"
    service, autoname = "ecr", ""
    create_call = "put_lifecycle_policy"
    read_call, read_args = "get_lifecycle_policy", {"repositoryName": "{id}"}
    gone = ("LifecyclePolicyNotFoundException", "RepositoryNotFoundException")
    delete_call, delete_args = "delete_lifecycle_policy", {"repositoryName": "{id}"}
    renames: ClassVar = {"policy": "lifecyclePolicyText", "repository": "repositoryName"}

    def make_id(self, answer: dict[str, Any], inputs: Properties) -> str:
        """Return the repository's name."""
        return str(inputs["repository"])
