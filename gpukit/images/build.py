"""
Everything an image of one's own is built from: Image Builder documents, recipe, distribution, container build context.

Pure data and text: the Pulumi component makes resources of it, one for one. A version is derived from the content, so
that a change makes a new component and recipe, and nothing else.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from gpukit.images.manifest import FloatingPin, ImageError
from gpukit.images.render import CHECK_EVERY_MINUTES, render_profile
from gpukit.images.templating import heredoc_mark, read_file, render_template
from gpukit.plan import ImagePlan

KEEP_UNTAGGED_DAYS: Final = 14
KEEP_TAGGED_IMAGES: Final = 20

_OF_THE_HOST: Final = (
    "containerd",
    "driver",
    "efa_driver",
    "kernel",
    "kubernetes",
    "nvidia_container_toolkit",
    "operating_system",
)

RUNTIME: Final = Path(__file__).parents[2] / "runtime" / "gpukit_runtime"
"""The module that is baked into images, in a checkout; a wheel has it beside this package."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentPlan:
    """One Image Builder component: `version` follows from `data`, so unchanged content is unchanged."""

    name: str
    version: str
    description: str
    data: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelinePlan:
    """What EC2 Image Builder gets; the schedule is off, and a built AMI is used only once its id is pinned."""

    name: str
    platform: str
    parent_image: str
    """AMI id, image ARN with its version, or dated AMI name of the base; exact."""
    components: tuple[ComponentPlan, ...]
    recipe_version: str
    root_gib: int
    root_device: str
    instance_types: tuple[str, ...]
    """Builders: the first that has capacity. A GPU type is needed only where a test asks for a GPU."""
    ami_name: str
    """Name of the result; Image Builder adds the date."""
    ami_tags: dict[str, str]
    schedule: str | None = None
    tests_minutes: int = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerBuildPlan:
    """What the container is built from, and the repository that holds it."""

    repository: str
    tag: str
    """Follows from the content of the context."""
    files: dict[str, str]
    """Path -> text; `Dockerfile` is one of them."""
    lifecycle_policy: str
    scan_on_push: bool = True
    tag_mutability: str = "IMMUTABLE"


def plan_image_build(
    image: ImagePlan,
    *,
    parent_image: str,
    packages: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> PipelinePlan:
    """
    Return what Image Builder needs to make the image.

    `parent_image` is an AMI id, an image ARN with its version, or the exact, dated name of one AMI; `packages` are
    Python packages by exact version.
    Raises ImageError for a parent or a package that can move.
    """
    _require_exact_parent(image.name, parent_image)
    chosen = _exact_packages(image.name, packages or {})
    components = (
        _component(image.name, "base", "Settings, limits and node check", render_base_component(image)),
        _component(image.name, "python", "Python packages and gpukit_runtime", render_python_component(image, chosen)),
        _component(image.name, "test", "What the image must hold", render_test_component(image)),
    )
    recipe = _version("".join(f"{item.name}={item.version};" for item in components) + parent_image)
    ubuntu = image.components.get("operating_system", "").startswith("ubuntu")
    return PipelinePlan(
        name=image.name,
        platform="Linux",
        parent_image=parent_image,
        components=components,
        recipe_version=recipe,
        root_gib=image.gib,
        root_device="/dev/sda1" if ubuntu else "/dev/xvda",
        instance_types=("m7g.xlarge", "m6g.xlarge") if image.architecture == "arm64" else ("m7i.xlarge", "m6i.xlarge"),
        # Without the recipe's version: then a bump leaves the distribution as it is.
        ami_name=f"gpukit-{image.name} {{{{ imagebuilder:buildDate }}}}",
        ami_tags=dict(sorted({**(tags or {}), "gpukit:image": image.name}.items())),
    )


def plan_container_build(
    image: ImagePlan, *, packages: Mapping[str, str] | None = None, repository: str | None = None
) -> ContainerBuildPlan:
    """Return the build context of the framework container; ImageError where the image has no container to build on."""
    if not image.container:
        raise ImageError(
            f"images.{image.name}: no container to build on",
            why="the image has no framework container",
            fix="name a framework, or pin `container`",
        )
    chosen = _exact_packages(image.name, packages or {})
    files = {
        "Dockerfile": render_template(
            "Dockerfile.j2",
            name=image.name,
            base=image.container,
            packages=chosen,
            environment=dict(sorted(image.environment.items())),
            contents=" ".join(
                f"{key}={value}" for key, value in sorted(image.components.items()) if key not in _OF_THE_HOST
            ),
        ),
        ".dockerignore": "*\n!Dockerfile\n!requirements.txt\n!runtime/\n",
    }
    if chosen:
        files["requirements.txt"] = "".join(f"{name}=={version}\n" for name, version in chosen.items())
    files |= {f"runtime/gpukit_runtime/{name}": text for name, text in runtime_files().items()}
    files = dict(sorted(files.items()))
    return ContainerBuildPlan(
        repository=repository or f"gpukit/{image.name}",
        tag=sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()[:16],
        files=files,
        lifecycle_policy=render_lifecycle_policy(),
    )


def render_base_component(image: ImagePlan) -> str:
    """Return the component document with settings, limits, environment and node check."""
    return render_template(
        "component_base.yaml.j2",
        settings_script=render_template(
            "image_settings.sh.j2",
            profile=render_profile(image.environment),
            contents=json.dumps(image.components, sort_keys=True),
        ).rstrip("\n"),
        check_script=render_template(
            "image_check.sh.j2",
            node_check_packed=read_file("node_check.packed").strip(),
            check_unit=render_template("node-check.service.j2"),
            check_timer=render_template("node-check.timer.j2", minutes=CHECK_EVERY_MINUTES),
        ).rstrip("\n"),
    )


def render_python_component(image: ImagePlan, packages: Mapping[str, str]) -> str:
    """Return the component document that installs exact Python packages and `gpukit_runtime`."""
    python = image.components.get("python", "")
    modules = {"pytorch": "torch", "tensorflow": "tensorflow", "jax": "jax"}
    in_ami = image.framework in modules and image.container is None
    return render_template(
        "component_python.yaml.j2",
        packages=dict(sorted(packages.items())),
        python=python if python.startswith("/") else "/usr/bin/python3",
        runtime_script=_write_runtime(),
        imports=[modules[image.framework]] if in_ami and image.framework else [],
    )


def render_test_component(image: ImagePlan) -> str:
    """Return the test document: driver, kernel and EFA driver are the ones that the plan states."""
    return render_template(
        "component_test.yaml.j2",
        driver=image.components.get("driver", ""),
        kernel=image.components.get("kernel", ""),
        efa_driver=image.components.get("efa_driver", ""),
    )


def render_lifecycle_policy() -> str:
    """Return the repository's lifecycle policy: untagged images go after days, tagged ones beyond a number."""
    return json.dumps(
        {
            "rules": [
                {
                    "rulePriority": 1,
                    "description": f"untagged images go after {KEEP_UNTAGGED_DAYS} days",
                    "selection": {
                        "tagStatus": "untagged",
                        "countType": "sinceImagePushed",
                        "countUnit": "days",
                        "countNumber": KEEP_UNTAGGED_DAYS,
                    },
                    "action": {"type": "expire"},
                },
                {
                    "rulePriority": 2,
                    "description": f"the {KEEP_TAGGED_IMAGES} newest images stay",
                    "selection": {
                        "tagStatus": "any",
                        "countType": "imageCountMoreThan",
                        "countNumber": KEEP_TAGGED_IMAGES,
                    },
                    "action": {"type": "expire"},
                },
            ]
        },
        indent=2,
    )


def runtime_files() -> dict[str, str]:
    """Return the files of `gpukit_runtime` by name."""
    folder = RUNTIME if RUNTIME.is_dir() else Path(__file__).parent.parent / "_shipped" / "gpukit_runtime"
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.py"))}


def list_contents(image: ImagePlan) -> tuple[tuple[str, str, str], ...]:
    """Return (name, version, kind) of all that is known inside, for a software bill of materials."""
    kinds = {"driver": "kernel-module", "efa_driver": "kernel-module", "kernel": "operating-system"}
    return tuple(
        (name, version, kinds.get(name, "operating-system" if name == "operating_system" else "library"))
        for name, version in sorted(image.components.items())
    )


def render_bill_of_materials(image: ImagePlan) -> str:
    """Return what is inside as CycloneDX JSON, without time or serial number: the same bytes for the same image."""
    types = {"kernel-module": "device-driver", "operating-system": "operating-system", "library": "library"}
    parts = [
        {"type": types[kind], "name": name, "version": version, "bom-ref": f"{name}@{version}"}
        for name, version, kind in list_contents(image)
    ]
    if image.container:
        name = image.container.partition("@")[0]
        parts.append({"type": "container", "name": name, "version": image.container, "bom-ref": image.container})
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "platform", "name": image.name}},
        "components": parts,
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _component(image: str, part: str, description: str, data: str) -> ComponentPlan:
    return ComponentPlan(name=f"gpukit-{image}-{part}", version=_version(data), description=description, data=data)


def _version(content: str) -> str:
    """Return a semantic version that follows from the content: Image Builder never changes a version in place."""
    digest = int(sha256(content.encode()).hexdigest()[:12], 16)
    return f"1.{digest % 1_000_000}.{digest // 1_000_000 % 1_000_000}"


def _require_exact_parent(name: str, parent: str) -> None:
    import re

    if re.fullmatch(r"ami-[0-9a-f]{8,17}", parent) or re.fullmatch(
        r"arn:aws[\w-]*:imagebuilder:.+/\d+\.\d+\.\d+/\d+", parent
    ):
        return
    # An owner never gives a dated name twice.
    if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ()./_'@-]{2,127}", parent) and re.search(r"\bv?20\d{6}\b", parent):
        return
    raise ImageError(
        f"images.{name}: parent image `{parent}`",
        why="a name, or a version with x in it, is another image tomorrow",
        fix="give an AMI id, an image ARN with version and build number, or a whole AMI name with its date",
    )


def _exact_packages(name: str, packages: Mapping[str, str]) -> dict[str, str]:
    import re

    for package, version in packages.items():
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", package) or not re.fullmatch(
            r"\d+(\.\d+)*([a-z]+\d+)?(\.post\d+)?(\+[a-z0-9.]+)?", version
        ):
            raise FloatingPin(
                f"images.{name}.packages.{package}: `{version}`",
                why="only an exact version is the same package tomorrow",
                fix="write it like `numpy: 2.2.6`",
            )
    return dict(sorted(packages.items()))


def _write_runtime() -> str:
    lines = ["set -euo pipefail", "mkdir -p /opt/gpukit/runtime/gpukit_runtime"]
    for name, text in runtime_files().items():
        mark = heredoc_mark(text)
        lines += [f"cat >/opt/gpukit/runtime/gpukit_runtime/{name} <<'{mark}'", text.rstrip("\n"), mark]
    return "\n".join(lines)
