"""The pipeline that builds an image of one's own, and the repository of its container."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

import pulumi

from gpukit.images.build import ContainerBuildPlan, PipelinePlan, plan_container_build, plan_image_build
from gpukit.images.manifest import ImageError
from gpukit.plan import ImageBuildPlan, ImagePlan
from gpukit_components.deciding import region_of
from gpukit_components.identity import make_role, render_trust_policy

BUILDER_RIGHTS = {
    "ssm": "AmazonSSMManagedInstanceCore",
    "builder": "EC2InstanceProfileForImageBuilder",
}
"""What a builder instance may do. Source: Image Builder User Guide, "Configuration requirements", 2026-08."""

_NAME = re.compile(r"(?=.{1,64}\Z)[a-z0-9]+(-[a-z0-9]+)*")
"""Stricter than the rule of ECR, so that repository, recipe and components can share one name."""


class FrameworkImageBuildArgs(TypedDict):
    """How an image of one's own is built. Nothing runs until somebody starts the pipeline."""

    parent_image: str
    """AMI id, image ARN with version and build number, or whole, dated AMI name that the image is built on."""
    parent_owner: NotRequired[str]
    """Owner of the AMI with that name: `amazon`, or an account's number; `amazon` when left out."""
    packages: NotRequired[dict[str, str]]
    """More Python packages by exact version."""
    subnet_id: NotRequired[pulumi.Input[str]]
    """Subnet of the builder; the default VPC's when left out."""
    security_group_ids: NotRequired[Sequence[pulumi.Input[str]]]
    """Security groups of the builder; needed with a subnet."""
    regions: NotRequired[Sequence[str]]
    """Regions that get a copy; the pipeline's own when left out."""
    tags: NotRequired[dict[str, str]]
    """Tags of all that is made, the AMI included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageBuilds:
    """What is decided about both builds; no container where the image has none to build on."""

    ami: PipelinePlan
    container: ContainerBuildPlan | None
    regions: tuple[str, ...]


def plan_builds(image: ImagePlan, wish: FrameworkImageBuildArgs, *, region: str | None = None) -> ImageBuilds:
    """Return both builds; InputPropertyError for a parent or package that can move."""
    if not _NAME.fullmatch(image.name):
        raise pulumi.InputPropertyError(
            "build",
            f"the image is called {image.name!r}, and its repository takes that name: lower-case letters and digits, "
            "with single hyphens between them, at most 64 characters",
        )
    packages = wish.get("packages") or {}
    try:
        return ImageBuilds(
            ami=plan_image_build(
                image, parent_image=wish["parent_image"], packages=packages, tags=wish.get("tags") or {}
            ),
            container=plan_container_build(image, packages=packages) if image.container else None,
            regions=tuple(wish.get("regions") or ()) or (region_of(region),),
        )
    except ImageError as problem:
        raise pulumi.InputPropertyError("build", f"{problem.problem}: {problem.why}; {problem.fix}") from problem


def wish_of(
    build: ImageBuildPlan,
    *,
    tags: dict[str, str],
    subnet_ids: Mapping[str, pulumi.Input[str]],
    security_group_ids: Sequence[pulumi.Input[str]],
) -> FrameworkImageBuildArgs:
    """Return a planned build as the component's arguments; without its subnet it runs in the default VPC."""
    wish = FrameworkImageBuildArgs(
        parent_image=build.parent_name, parent_owner=build.parent_owner, packages=build.packages, tags=tags
    )
    if build.subnet is not None and build.subnet in subnet_ids:
        wish["subnet_id"] = subnet_ids[build.subnet]
        wish["security_group_ids"] = security_group_ids
    return wish


def find_by_name(name: str, owner: str, parent: pulumi.Resource | None) -> pulumi.Output[str]:
    """Return the id of the one AMI with that exact name; it holds a date, and an owner never reuses one."""
    import pulumi_aws as aws

    found = aws.ec2.get_ami_output(
        owners=[owner],
        filters=[{"name": "name", "values": [name]}, {"name": "state", "values": ["available"]}],
        opts=pulumi.InvokeOutputOptions(parent=parent),
    )
    ami_id: pulumi.Output[str] = found.id
    return ami_id


def build_image(
    name: str, plans: ImageBuilds, wish: FrameworkImageBuildArgs, *, parent: pulumi.Resource
) -> tuple[pulumi.Output[str], pulumi.Output[str] | None]:
    """Create pipeline and repository; return the pipeline's ARN and the repository's URL."""
    import pulumi_aws as aws

    opts = pulumi.ResourceOptions(parent=parent)
    # A new version stands beside the old one, which cannot go while recipe or pipeline still point at it; because the
    # name stays, the provider would delete first.
    versioned = pulumi.ResourceOptions(parent=parent, delete_before_replace=False)
    plan, tags = plans.ami, dict(wish.get("tags") or {})
    components = [
        aws.imagebuilder.Component(
            item.name.replace(f"gpukit-{plan.name}", name),
            name=item.name,
            version=item.version,
            description=item.description,
            platform=plan.platform,
            data=item.data,
            tags=tags,
            opts=versioned,
        )
        for item in plan.components
    ]
    recipe = aws.imagebuilder.ImageRecipe(
        f"{name}-recipe",
        name=f"gpukit-{plan.name}",
        version=plan.recipe_version,
        parent_image=plan.parent_image
        if plan.parent_image.startswith(("ami-", "arn:"))
        else find_by_name(plan.parent_image, wish.get("parent_owner") or "amazon", parent),
        components=[{"component_arn": component.arn} for component in components],
        block_device_mappings=[
            {
                "device_name": plan.root_device,
                "ebs": {
                    "volume_size": plan.root_gib,
                    "volume_type": "gp3",
                    "encrypted": "true",
                    "delete_on_termination": "true",
                },
            }
        ],
        ami_tags=plan.ami_tags,
        # The agent stays: the image is reached by Session Manager only.
        systems_manager_agent={"uninstall_after_build": False},
        tags=tags,
        opts=versioned,
    )
    pipeline = aws.imagebuilder.ImagePipeline(
        f"{name}-pipeline",
        name=f"gpukit-{plan.name}",
        image_recipe_arn=recipe.arn,
        infrastructure_configuration_arn=_infrastructure(name, plan, wish, tags, opts).arn,
        distribution_configuration_arn=_distribution(name, plans, tags, opts).arn,
        image_tests_configuration={"image_tests_enabled": True, "timeout_minutes": plan.tests_minutes},
        # No schedule: an image that builds itself is an image that changes by itself.
        status="ENABLED",
        tags=tags,
        opts=opts,
    )
    arn: pulumi.Output[str] = pipeline.arn
    return arn, _repository(name, plans.container, tags, opts)


def _infrastructure(
    name: str, plan: PipelinePlan, wish: FrameworkImageBuildArgs, tags: dict[str, str], opts: pulumi.ResourceOptions
) -> Any:
    import pulumi_aws as aws

    role, rights = make_role(
        f"{name}-builder",
        trust=render_trust_policy("ec2.amazonaws.com"),
        description=f"Builder of image {plan.name}",
        managed=BUILDER_RIGHTS,
        tags=tags,
        opts=opts,
    )
    profile = aws.iam.InstanceProfile(f"{name}-builder", role=role.name, tags=tags, opts=opts)
    return aws.imagebuilder.InfrastructureConfiguration(
        f"{name}-infrastructure",
        name=f"gpukit-{plan.name}",
        instance_profile_name=profile.name,
        instance_types=list(plan.instance_types),
        subnet_id=wish.get("subnet_id"),
        security_group_ids=list(wish.get("security_group_ids") or []) or None,
        instance_metadata_options={"http_tokens": "required", "http_put_response_hop_limit": 1},
        terminate_instance_on_failure=True,
        resource_tags=tags or None,
        tags=tags,
        opts=pulumi.ResourceOptions(parent=opts.parent, depends_on=rights),
    )


def _distribution(name: str, plans: ImageBuilds, tags: dict[str, str], opts: pulumi.ResourceOptions) -> Any:
    import pulumi_aws as aws

    plan = plans.ami
    return aws.imagebuilder.DistributionConfiguration(
        f"{name}-distribution",
        name=f"gpukit-{plan.name}",
        distributions=[
            {
                "region": region,
                "ami_distribution_configuration": {"name": plan.ami_name, "ami_tags": plan.ami_tags},
            }
            for region in plans.regions
        ],
        tags=tags,
        opts=opts,
    )


def _repository(
    name: str, plan: ContainerBuildPlan | None, tags: dict[str, str], opts: pulumi.ResourceOptions
) -> pulumi.Output[str] | None:
    if plan is None:
        return None
    import pulumi_aws as aws

    repository = aws.ecr.Repository(
        f"{name}-repository",
        name=plan.repository,
        image_tag_mutability=plan.tag_mutability,
        image_scanning_configuration={"scan_on_push": plan.scan_on_push},
        encryption_configurations=[{"encryption_type": "AES256"}],
        # Images that jobs still name must not go with the stack.
        force_delete=False,
        tags=tags,
        opts=opts,
    )
    aws.ecr.LifecyclePolicy(f"{name}-lifecycle", repository=repository.name, policy=plan.lifecycle_policy, opts=opts)
    url: pulumi.Output[str] = repository.repository_url
    return url
