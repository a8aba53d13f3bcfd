"""`FrameworkImage`: one pinned software layer of nodes, never "the newest"."""

from dataclasses import replace
from typing import NotRequired, Self, TypedDict, cast

import pulumi

from gpukit.plan import ImagePlan
from gpukit_components.image_build import FrameworkImageBuildArgs, build_image, find_by_name, plan_builds


class FrameworkImageArgs(TypedDict):
    """What an image is; without pins gpukit's catalogue gives exact ones."""

    framework: NotRequired[str]
    """`pytorch`, `tensorflow`, `jax` or `none`."""
    version: NotRequired[str]
    """Version of the framework."""
    instance_type: NotRequired[str]
    """Instance type that the image is for; decides the architecture."""
    ami_id: NotRequired[str]
    """Use this image."""
    release_version: NotRequired[str]
    """EKS AMI release version."""
    container: NotRequired[str]
    """Container image with digest or exact version."""
    build: NotRequired[FrameworkImageBuildArgs]
    """Also makes the pipeline that builds such an image, and the repository of its container."""
    region: NotRequired[str]
    """AWS region; the provider's `aws:region` when left out."""


class FrameworkImage(pulumi.ComponentResource):
    """A pinned image: an EKS release, an AMI by id, or one AMI by its exact, dated name."""

    ami_id: pulumi.Output[str] | None
    """Id of the AMI; none where EKS releases it."""
    ami_type: pulumi.Output[str] | None
    """EKS's AMI type; none where the AMI is named."""
    release_version: pulumi.Output[str] | None
    """EKS AMI release version; none where the AMI is named."""
    container: pulumi.Output[str] | None
    """Container image for jobs, pinned."""
    contents: pulumi.Output[dict[str, str]]
    """What is inside: driver, CUDA, EFA, NCCL and more by version, as far as it is known."""
    environment: pulumi.Output[dict[str, str]]
    """Precision and communication settings for the GPU generation."""
    pipeline_arn: pulumi.Output[str] | None
    """The pipeline that builds the AMI when somebody starts it; none without `build`."""
    repository_url: pulumi.Output[str] | None
    """The repository that takes the container; none without `build`."""

    def __init__(
        self,
        name: str,
        args: FrameworkImageArgs,
        opts: pulumi.ResourceOptions | None = None,
        *,
        planned: ImagePlan | None = None,
    ) -> None:
        if planned is None:
            from gpukit_components.alone import plan_image

            # Alone, the component's name is the image's.
            planned = replace(plan_image(name, args), name=name)
        if planned.source == "built":
            raise pulumi.InputPropertyError(
                f"images.{planned.name}.build",
                "this component takes pinned images only, and one that is still to be built has no id to pin: "
                "build it first and set `ami_id`, or leave `build` out",
            )
        wish = args.get("build")
        # Before the component exists: a wish that cannot be met must leave nothing behind.
        plan = planned.build
        called = planned if plan is None else replace(plan.base, name=plan.name)
        plans = plan_builds(called, wish, region=args.get("region")) if wish is not None else None
        super().__init__("gpukit:index:FrameworkImage", name, None, opts)
        self.pipeline_arn = self.repository_url = None
        if wish is not None and plans is not None:
            self.pipeline_arn, self.repository_url = build_image(name, plans, wish, parent=self)
        self.ami_id = find_ami(planned, self)
        self.ami_type = _known(planned.ami_type)
        self.release_version = _known(planned.release_version)
        self.container = _known(planned.container)
        self.contents = pulumi.Output.from_input(dict(planned.components))
        self.environment = pulumi.Output.from_input(dict(planned.environment))
        self.register_outputs(
            {
                "amiId": self.ami_id,
                "amiType": self.ami_type,
                "releaseVersion": self.release_version,
                "container": self.container,
                "contents": self.contents,
                "environment": self.environment,
                "pipelineArn": self.pipeline_arn,
                "repositoryUrl": self.repository_url,
            }
        )

    @classmethod
    def from_plan(
        cls,
        name: str,
        planned: ImagePlan,
        opts: pulumi.ResourceOptions | None = None,
        *,
        build: FrameworkImageBuildArgs | None = None,
        region: str | None = None,
    ) -> Self:
        """Build what a plan has decided; `build` is the plan's own, with what exists already filled in."""
        args = {"build": build, "region": region} if build is not None else {}
        return cls(name, cast(FrameworkImageArgs, args), opts, planned=planned)


def find_ami(image: ImagePlan, parent: pulumi.Resource | None) -> pulumi.Output[str] | None:
    """Return the id of the image's AMI, or None where EKS releases it."""
    if image.source == "ami-id" and image.ami_id is not None:
        return pulumi.Output.from_input(image.ami_id)
    if image.source != "ami-name":
        return None
    return find_by_name(image.ami_name or "", image.ami_owner or "amazon", parent)


def _known(value: str | None) -> pulumi.Output[str] | None:
    return pulumi.Output.from_input(value) if value is not None else None
