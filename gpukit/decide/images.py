"""Choose the image of every pool; a choice that cannot be made is a finding, and the pool stays in the plan."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from gpukit.decide.pools import find_type, pool_instance_types
from gpukit.finding import Finding, Severity
from gpukit.plan import Decision, ImageBuildPlan, ImagePlan, NetworkPlan

if TYPE_CHECKING:
    from gpukit.catalog import Catalog
    from gpukit.images.manifest import ImageError
    from gpukit.spec.model import ClusterSpec, ImageSpec, PoolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageChoices:
    """Pool name -> image, with the reasons and what could not be chosen."""

    by_pool: dict[str, ImagePlan]
    decisions: tuple[Decision, ...]
    findings: tuple[Finding, ...]


def choose_images(
    spec: "ClusterSpec", *, region: str, kubernetes_version: str | None, efa: dict[str, bool], catalog: "Catalog"
) -> ImageChoices:
    """
    Return one image for each pool.

    Pools that name the same image share it where GPU and architecture are the same; else each gets its own variant,
    because driver settings and architecture differ. A pool without an image gets the plain one of its role.
    """
    by_pool: dict[str, ImagePlan] = {}
    named: dict[str, ImagePlan] = {}
    bases: dict[str, ImagePlan | None] = {}
    decisions: dict[str, tuple[Decision, ...]] = {}
    findings: list[Finding] = []
    for pool_name, pool in spec.pools.items():
        image_name, wish = _wished(pool, spec)
        choose = partial(
            _choose,
            image_name,
            pool=pool,
            role={"workstation": "ec2", "existing-cluster": "existing"}.get(str(spec.kind), "eks"),
            region=region,
            kubernetes_version=kubernetes_version,
            efa=efa[pool_name],
            catalog=catalog,
        )
        image, reasons, problem = choose(wish=wish)
        base: ImagePlan | None = None
        if wish is not None and wish.build and problem is None and image.source != "existing":
            base, problem = (image, None) if wish.ami_id is None else _choose_base(choose, wish, image_name)
        if problem is not None:
            findings.append(problem)
        unique = image_name
        same = unique in named and replace(image, build=named[unique].build) == named[unique] and base == bases[unique]
        if unique in named and not same:
            model = _gpu_model(pool, catalog)
            unique = (
                f"{image_name}-{model.lower()}" if model else f"{image_name}-{image.architecture.replace('_', '-')}"
            )
        image = replace(image, name=unique)
        if unique not in named:
            if wish is not None and base is not None and problem is None:
                image, reason, problem = _with_build(
                    image, base, wish, path=f"images.{image_name}", environment=_environment_name(spec)
                )
                reasons += (reason,) if reason is not None else ()
                findings += [problem] if problem is not None else []
            named[unique], bases[unique] = image, base
            decisions[unique] = tuple(
                replace(reason, subject=reason.subject.replace(f"images.{image_name}", f"images.{unique}", 1))
                for reason in reasons
            )
        by_pool[pool_name] = named[unique]
    told = tuple(reason for name in sorted(decisions) for reason in decisions[name])
    return ImageChoices(by_pool=by_pool, decisions=told, findings=tuple(findings))


def place_builders(images: Iterable[ImagePlan], network: NetworkPlan) -> tuple[ImagePlan, ...]:
    """Return the images with a subnet for each builder: one that has a way out, and no address from outside."""
    order = [subnet.name for role in ("system", "gpu", "existing") for subnet in network.subnets if subnet.role == role]
    subnet = order[0] if order else None
    return tuple(
        image if image.build is None else replace(image, build=replace(image.build, subnet=subnet)) for image in images
    )


def _environment_name(spec: "ClusterSpec") -> str:
    return spec.name if spec.name.endswith(spec.environment) else f"{spec.name}-{spec.environment}"


def _choose_base(
    choose: "Callable[..., tuple[ImagePlan, tuple[Decision, ...], Finding | None]]", wish: "ImageSpec", name: str
) -> tuple[ImagePlan | None, Finding | None]:
    """Return what a build starts from where the pinned AMI is what came out of an earlier one: the release again."""
    base, _, problem = choose(wish=replace(wish, ami_id=None))
    if problem is not None:
        # Beside an AMI, versions say what that AMI holds: the release may hold others.
        base, _, problem = choose(wish=replace(wish, ami_id=None, driver=None, cuda=None, efa_installer=None))
    if problem is None:
        return base, None
    fix = "name the release to build on as `release_version`, or leave `build` out"
    return None, replace(problem, path=f"images.{name}.build", fix=fix)


def _with_build(
    image: ImagePlan, base: ImagePlan, wish: "ImageSpec", *, path: str, environment: str
) -> tuple[ImagePlan, Decision | None, Finding | None]:
    """Return the image with its build, or as it was with a finding where it cannot be built."""
    from gpukit.images.build import plan_container_build, plan_image_build
    from gpukit.images.choose import find_parent_ami
    from gpukit.images.manifest import FloatingPin, ImageError

    # One account may hold several environments, and a repository's name takes no two hyphens in a row.
    name = re.sub("-+", "-", f"{environment}-{image.name}")
    called = replace(base, name=name)
    try:
        parent, owner = find_parent_ami(base)
        pipeline = plan_image_build(called, parent_image=parent, packages=wish.packages)
        container = plan_container_build(called, packages=wish.packages) if base.container else None
    except ImageError as problem:
        found = _finding(image.name, problem, floating=isinstance(problem, FloatingPin))
        # The build's own name leads the path, and the user has never seen it.
        inside = found.path.partition(".packages.")[2]
        return image, None, replace(found, path=f"{path}.packages.{inside}" if inside else f"{path}.build")
    build = ImageBuildPlan(
        name=name,
        base=replace(base, name=image.name),
        parent_name=parent,
        parent_owner=owner,
        packages=dict(sorted(wish.packages.items())),
        recipe_version=pipeline.recipe_version,
        component_versions={item.name: item.version for item in pipeline.components},
        repository=container.repository if container else None,
        container_tag=container.tag if container else None,
    )
    runs = f"nodes run {wish.ami_id}" if wish.ami_id else "nodes run the base until `ami_id` pins what came out"
    reason = Decision(
        subject=f"images.{image.name}.build",
        choice=f"recipe {build.recipe_version} on {parent}",
        because=f"`build: true` makes a pipeline without schedule; {runs}",
        source="stack file",
    )
    return replace(image, build=build), reason, None


def _wished(pool: "PoolSpec", spec: "ClusterSpec") -> "tuple[str, ImageSpec | None]":
    if pool.image is not None and pool.image in spec.images:
        return pool.image, spec.images[pool.image]
    if str(pool.role) == "gpu" and len(spec.images) == 1 and pool.image is None:
        return next(iter(spec.images.items()))
    return ("gpu" if str(pool.role) == "gpu" else "system"), None


def _gpu_model(pool: "PoolSpec", catalog: "Catalog") -> str | None:
    first = pool_instance_types(pool, catalog)[0]
    return None if catalog.has_helper_type(first) else catalog.instance_type(first).gpu_model


def _choose(
    name: str,
    wish: "ImageSpec | None",
    pool: "PoolSpec",
    *,
    role: str,
    region: str,
    kubernetes_version: str | None,
    efa: bool,
    catalog: "Catalog",
) -> tuple[ImagePlan, tuple[Decision, ...], Finding | None]:
    from gpukit.images.choose import choose_image
    from gpukit.images.manifest import FloatingPin, ImageError

    instance_type = pool_instance_types(pool, catalog)[0]
    architecture = find_type(instance_type, catalog).architecture
    model = _gpu_model(pool, catalog)
    pinned: dict[str, str | None] = {}
    if wish is not None:
        pinned = {
            "ami_id": wish.ami_id,
            "release_version": wish.release_version,
            "container": wish.container,
            "driver": wish.driver,
            "cuda": wish.cuda,
            "efa_installer": wish.efa_installer,
        }
    try:
        image, decisions = choose_image(
            name=name,
            framework=str(wish.framework) if wish is not None else None,
            framework_version=wish.version if wish is not None else None,
            architecture=architecture,
            gpu_architecture=catalog.gpu_model(model).architecture if model else None,
            gpu_model=model,
            role=role,
            kubernetes_version=kubernetes_version,
            region=region,
            pinned=pinned,
            efa=efa,
            instance_type=instance_type,
            catalog=catalog,
        )
    except ImageError as problem:
        return _no_image(name, architecture), (), _finding(name, problem, floating=isinstance(problem, FloatingPin))
    return image, decisions, None


def _no_image(name: str, architecture: str) -> ImagePlan:
    """Return a stand-in that nothing can be built from; an error finding always goes with it."""
    return ImagePlan(
        name=name,
        framework=None,
        framework_version=None,
        architecture=architecture,
        source="unknown",
        ami_type=None,
        release_version=None,
        ami_id=None,
        ami_name=None,
        ami_owner=None,
        container=None,
        gib=0,
        components={},
        environment={},
        because="no known image fits",
        reference="",
    )


def _finding(name: str, problem: "ImageError", *, floating: bool) -> Finding:
    path, _, rest = str(problem).partition(": ")
    placed = path.startswith("images.")
    near = f"; nearest known: {', '.join(problem.nearest)}" if problem.nearest else ""
    return Finding(
        code="GK5002" if floating else "GK5001",
        severity=Severity.ERROR,
        path=path if placed else f"images.{name}",
        problem=rest if placed else str(problem),
        why=problem.why,
        fix=problem.fix + near,
        source=problem.source,
    )
