"""Choose one image: an exact AMI, an exact container and the environment that its GPU needs, with every reason."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from gpukit.images.communication import (
    Setting,
    Stack,
    choose_communication_settings,
    choose_precision_settings,
)
from gpukit.images.manifest import (
    AmiPin,
    FloatingPin,
    FrameworkRow,
    GpuRow,
    ImageManifest,
    UnknownCombination,
    load_manifest,
)
from gpukit.images.versions import is_at_least, parse_version, starts_with
from gpukit.plan import Decision, ImagePlan

GIB_PER_GB: Final = 1e9 / 2**30

UNKNOWN_CONTAINER_GB: Final = 20.0
"""Space for a framework container whose size nobody published. The largest size found is 17.6 GB; too much is safe."""

_EKS_TYPE: Final = {
    ("gpu", "x86_64"): "AL2023_x86_64_NVIDIA",
    ("gpu", "arm64"): "AL2023_ARM_64_NVIDIA",
    ("neuron", "x86_64"): "AL2023_x86_64_NEURON",
    ("none", "x86_64"): "AL2023_x86_64_STANDARD",
    ("none", "arm64"): "AL2023_ARM_64_STANDARD",
}


_EKS_AMI_STEM: Final = {
    "AL2023_x86_64_NVIDIA": "amazon-eks-node-al2023-x86_64-nvidia",
    "AL2023_ARM_64_NVIDIA": "amazon-eks-node-al2023-arm64-nvidia",
    "AL2023_x86_64_NEURON": "amazon-eks-node-al2023-x86_64-neuron",
    "AL2023_x86_64_STANDARD": "amazon-eks-node-al2023-x86_64-standard",
    "AL2023_ARM_64_STANDARD": "amazon-eks-node-al2023-arm64-standard",
}
"""AMI type -> name of its AMIs before Kubernetes version and date; a test holds it against ami_pins.csv."""


def choose_image(
    *,
    name: str,
    framework: str | None,
    framework_version: str | None,
    architecture: str,
    gpu_architecture: str | None,
    gpu_model: str | None,
    role: str,
    kubernetes_version: str | None,
    region: str,
    pinned: Mapping[str, str | None] | None = None,
    efa: bool = False,
    instance_type: str = "",
    catalog: object | None = None,
) -> tuple[ImagePlan, tuple[Decision, ...]]:
    """
    Return the image of a pool and the decisions behind it.

    `role` is `eks` (a node of a managed node group), `ec2` (a workstation) or `existing` (nodes that somebody else
    made: only container and environment are chosen, `source` is `existing`). `pinned` holds what the user typed:
    `ami_id`, `ami_name`, `ami_owner`, `release_version`, `container`, `driver`, `cuda`, `efa_installer`. A pin wins
    over the manifest. `gpu_model` None means a node without GPU, `Trainium...` a Neuron node.

    Raises UnknownCombination where no row fits, with the nearest known ones, and FloatingPin for a tag that can move.
    """
    wish = _Wish(
        name=name,
        framework=None if framework in (None, "", "none") else framework,
        framework_version=framework_version or None,
        architecture=_cpu_architecture(architecture),
        gpu_model=gpu_model,
        role=role,
        kubernetes=_minor(kubernetes_version),
        pinned={key: value for key, value in (pinned or {}).items() if value},
        efa=efa,
        family=instance_type.split(".")[0].removeprefix("u-") if instance_type else "",
    )
    manifest = load_manifest()
    gpu = _gpu_row(manifest, wish, gpu_architecture)
    ami, source = _choose_ami(manifest, wish, gpu)
    container = _choose_container(manifest, wish, gpu, ami)
    return _describe(wish, manifest, gpu, ami, source, container)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """The request with its words normalised."""

    name: str
    framework: str | None
    framework_version: str | None
    architecture: str
    gpu_model: str | None
    role: str
    kubernetes: str
    pinned: dict[str, str]
    efa: bool
    family: str

    @property
    def accelerator(self) -> str:
        if self.gpu_model is None:
            return "none"
        return "neuron" if self.gpu_model.startswith("Trainium") else "gpu"

    @property
    def words(self) -> str:
        version = f" {self.framework_version}" if self.framework_version else ""
        what = f"{self.framework}{version}" if self.framework else "no framework"
        where = {"eks": f"Kubernetes {self.kubernetes}", "existing": "an existing cluster"}.get(
            self.role, "a single EC2 instance"
        )
        return f"{what} on {self.gpu_model or 'no GPU'} ({self.architecture}) for {where}"


def _gpu_row(manifest: ImageManifest, wish: _Wish, gpu_architecture: str | None) -> GpuRow | None:
    if wish.accelerator != "gpu" or wish.gpu_model is None:
        return None
    row = manifest.gpu(wish.gpu_model)
    if row is None:
        from gpukit.nearest import nearest

        known = [item.gpu_model for item in manifest.gpus]
        near = nearest(wish.gpu_model, known) or tuple(
            item.gpu_model for item in manifest.gpus if item.gpu_architecture == gpu_architecture
        )
        raise UnknownCombination(
            f"images.{wish.name}: GPU `{wish.gpu_model}` is not in the image manifest",
            why="without a row nothing says which driver and precision it needs",
            fix="add a row to image_manifest.csv with its source",
            nearest=near[:3],
        )
    if row.cpu_architecture != wish.architecture:
        raise UnknownCombination(
            f"images.{wish.name}: {wish.gpu_model} with {wish.architecture}",
            why=f"the manifest knows {wish.gpu_model} on {row.cpu_architecture} hosts only",
            fix=f"use {row.cpu_architecture}",
            nearest=(f"{wish.gpu_model} on {row.cpu_architecture}",),
            source=row.source,
        )
    return row


def _choose_ami(manifest: ImageManifest, wish: _Wish, gpu: GpuRow | None) -> tuple[AmiPin | None, str]:
    """Return the AMI's row (None: contents unknown) and how it is named: eks-release | ami-id | ami-name."""
    if wish.role == "existing":
        return None, "existing"
    if "ami_id" in wish.pinned:
        return None, "ami-id"
    if "ami_name" in wish.pinned:
        _require_exact_name(wish)
        known = [row for row in manifest.amis if row.ami_name == wish.pinned["ami_name"]]
        if known:
            _require_fit(manifest, wish, gpu, known)
        return (known[0] if known else None), "ami-name"
    source = "eks-release" if wish.role == "eks" else "ami-name"
    release = wish.pinned.get("release_version")
    rows = [row for row in manifest.amis if row.role == wish.role and row.cpu_architecture == wish.architecture]
    if wish.role == "eks":
        ami_type = _ami_type(wish)
        rows = [row for row in rows if row.ami_type == ami_type and row.kubernetes == wish.kubernetes]
        if release:
            _require_release_of(wish, release)
            rows = [row for row in rows if row.release_version == release]
            if not rows:
                return None, source
    else:
        complete = [
            row
            for row in rows
            if row.framework and row.framework == wish.framework and _framework_fits(row.framework_version, wish)
        ]
        base = [row for row in rows if not row.framework]
        # An AMI that brings the framework is best; else the base AMI, and the framework in its container.
        rows = complete if any(not _refusal(row, wish, gpu) for row in complete) else complete + base
    rows = _require_fit(manifest, wish, gpu, rows)
    return rows[0], source


def _require_fit(manifest: ImageManifest, wish: _Wish, gpu: GpuRow | None, rows: list[AmiPin]) -> list[AmiPin]:
    """Return the rows that carry the GPU, best first; UnknownCombination where there is none."""
    refusals: list[str] = []
    good: list[AmiPin] = []
    for row in sorted(rows, key=lambda row: (row.preference, row.id)):
        refusal = _refusal(row, wish, gpu)
        if refusal:
            refusals.append(refusal)
        else:
            good.append(row)
    if good:
        return good
    raise UnknownCombination(
        f"images.{wish.name}: no known AMI for {wish.words}",
        why=refusals[0] if refusals else "ami_pins.csv has no row for it",
        fix="choose one of the nearest, or pin `ami_id` of an image you have tested",
        nearest=_nearest_amis(manifest, wish, gpu),
        source="gpukit/catalog/data/ami_pins.csv",
    )


def _refusal(row: AmiPin, wish: _Wish, gpu: GpuRow | None) -> str:
    """Say why an AMI does not carry the wish; empty where it does."""
    label = row.ami_name or row.release_version
    if wish.family and row.instance_families and wish.family not in row.instance_families:
        return f"`{label}` is not known to run on {wish.family}"
    for key in ("driver", "cuda", "efa_installer"):
        wanted, has = wish.pinned.get(key), getattr(row, key)
        if wanted and has and not starts_with(has, wanted):
            return f"`{label}` has {key} {has}, not {wanted}"
    if gpu is None or not row.driver:
        return ""
    if gpu.driver_min_branch and not is_at_least(row.driver, gpu.driver_min_branch):
        return f"{gpu.gpu_model} needs driver {gpu.driver_min_branch} or later, `{label}` has {row.driver}"
    if gpu.driver_max_branch and parse_version(row.driver)[0] > int(gpu.driver_max_branch):
        return f"{gpu.gpu_model} is supported up to driver {gpu.driver_max_branch}, `{label}` has {row.driver}"
    return ""


def _choose_container(
    manifest: ImageManifest, wish: _Wish, gpu: GpuRow | None, ami: AmiPin | None
) -> FrameworkRow | str | None:
    """Return the framework's row, the user's own container, or None where no framework is asked for."""
    own = wish.pinned.get("container")
    if own:
        require_exact_container(own, f"images.{wish.name}.container")
        return next((row for row in manifest.frameworks if row.container == own), own)
    if wish.framework is None:
        return None
    if wish.role == "ec2" and ami is not None and ami.framework == wish.framework:
        return None
    rows = [
        row
        for row in manifest.frameworks
        if row.framework == wish.framework
        and row.cpu_architecture == wish.architecture
        and _framework_fits(row.framework_version, wish)
    ]
    refusals: list[str] = []
    good: list[FrameworkRow] = []
    for row in sorted(rows, key=lambda row: (wish.efa and not row.ofi_nccl, row.preference, row.id)):
        refusal = _container_refusal(row, wish, gpu, ami)
        if refusal:
            refusals.append(refusal)
        else:
            good.append(row)
    if good:
        return good[0]
    raise UnknownCombination(
        f"images.{wish.name}: no known container for {wish.words}",
        why=refusals[0] if refusals else _known_versions(manifest, wish),
        fix="choose one of the nearest, or pin `container` with a digest or an exact version",
        nearest=_nearest_frameworks(manifest, wish, gpu, ami),
        source="gpukit/catalog/data/framework_versions.csv",
    )


def _container_refusal(row: FrameworkRow, wish: _Wish, gpu: GpuRow | None, ami: AmiPin | None) -> str:
    label = f"{row.framework} {row.framework_version} ({row.id})"
    if wish.pinned.get("cuda") and row.cuda and not starts_with(row.cuda, wish.pinned["cuda"]):
        return f"{label} has CUDA {row.cuda}, not {wish.pinned['cuda']}"
    if gpu is None:
        return ""
    if not is_at_least(gpu.compute_capability, row.compute_min):
        return (
            f"{label} runs from compute capability {row.compute_min} on, {gpu.gpu_model} has {gpu.compute_capability}"
        )
    if row.compute_max and parse_version(gpu.compute_capability) > parse_version(row.compute_max):
        return f"{label} runs up to compute capability {row.compute_max}, {gpu.gpu_model} has {gpu.compute_capability}"
    if row.cuda and gpu.cuda_min and not is_at_least(row.cuda, gpu.cuda_min):
        return f"{label} has CUDA {row.cuda}, {gpu.gpu_model} needs {gpu.cuda_min} or later"
    if row.cuda and gpu.cuda_below and is_at_least(row.cuda, gpu.cuda_below):
        return f"{label} has CUDA {row.cuda}, {gpu.gpu_model} left CUDA at {gpu.cuda_below}"
    if ami is not None and ami.driver and not is_at_least(ami.driver, row.driver_min_branch):
        return f"{label} needs driver {row.driver_min_branch} or later, the AMI has {ami.driver}"
    return ""


def _known_versions(manifest: ImageManifest, wish: _Wish) -> str:
    versions = sorted(
        {
            row.framework_version
            for row in manifest.frameworks
            if row.framework == wish.framework and row.cpu_architecture == wish.architecture
        },
        key=parse_version,
    )
    if not versions:
        return f"no container of {wish.framework} for {wish.architecture} is known"
    wanted = f", not in {wish.framework_version}" if wish.framework_version else ""
    return f"{wish.framework} for {wish.architecture} is known in {', '.join(versions)}{wanted}"


def find_parent_ami(image: ImagePlan) -> tuple[str, str]:
    """Return exact name and owner of the one AMI that an image is; UnknownCombination where it has no such name."""
    if image.source == "ami-name" and image.ami_name:
        return image.ami_name, image.ami_owner or "amazon"
    if image.source == "eks-release" and image.ami_type and image.release_version:
        version, _, date = image.release_version.partition("-")
        stem = _EKS_AMI_STEM.get(image.ami_type)
        if stem and date:
            return f"{stem}-{_minor(version)}-v{date}", "amazon"
    raise UnknownCombination(
        f"images.{image.name}.build: no AMI to build on",
        why="an image is built on one AMI by its exact name, and none is known here",
        fix="name an EKS release (`release_version: 1.36.2-20260728`), or leave `build` out",
        nearest=tuple(sorted({row.release_version for row in load_manifest().amis if row.release_version}))[-3:],
    )


def require_exact_container(image: str, path: str) -> None:
    """Return for an image with a digest or an exact version tag; raise FloatingPin for any other."""
    digest = re.search(r"@sha256:[0-9a-f]{64}$", image)
    tag = image.rsplit("/", 1)[-1].partition("@")[0].partition(":")[2]
    moves = not re.search(r"\d", tag) or re.search(r"latest|main|master|stable|nightly|edge", tag.lower())
    if digest or (tag and not moves):
        return
    raise FloatingPin(
        f"{path}: `{image}` has {'no tag' if not tag else f'the tag `{tag}`'}",
        why="such a tag points to another image tomorrow, and no preview would show it",
        fix="add the digest (`@sha256:...`) or an exact version tag",
    )


def _require_exact_name(wish: _Wish) -> None:
    name = wish.pinned["ami_name"]
    if any(mark in name for mark in "*?{") or not re.search(r"20\d{6}|v20\d{6}", name):
        raise FloatingPin(
            f"images.{wish.name}.ami_name: `{name}` is not one AMI",
            why="a pattern, or a name without date, finds another AMI tomorrow and replaces the instance",
            fix="give the whole name with its date, such as `... (Ubuntu 24.04) 20260317`",
        )


def _require_release_of(wish: _Wish, release: str) -> None:
    if not re.fullmatch(r"\d+\.\d+\.\d+-\d{8}", release):
        raise FloatingPin(
            f"images.{wish.name}.release_version: `{release}` is not an EKS AMI release",
            why="a release is Kubernetes version and date, and only that is one image",
            fix="write it like `1.36.2-20260728`",
        )
    if wish.kubernetes and not starts_with(release, wish.kubernetes):
        raise UnknownCombination(
            f"images.{wish.name}.release_version: `{release}` with Kubernetes {wish.kubernetes}",
            why="a node's release has the Kubernetes minor version of its cluster",
            fix=f"choose a release that begins with {wish.kubernetes}",
            nearest=tuple(
                sorted({row.release_version for row in load_manifest().amis if row.kubernetes == wish.kubernetes})
            )[:3],
            source="https://docs.aws.amazon.com/eks/latest/userguide/eks-linux-ami-versions.html",
        )


def _describe(
    wish: _Wish,
    manifest: ImageManifest,
    gpu: GpuRow | None,
    ami: AmiPin | None,
    source: str,
    container: FrameworkRow | str | None,
) -> tuple[ImagePlan, tuple[Decision, ...]]:
    row = container if isinstance(container, FrameworkRow) else None
    image = row.container if row else (container if isinstance(container, str) else None)
    stack = Stack(
        framework=wish.framework or "",
        framework_version=(row.framework_version if row else "") or (ami.framework_version if ami else "") or "",
        ofi_nccl=(row.ofi_nccl if row else "") or (ami.ofi_nccl if ami else ""),
        nccl=row.nccl if row else "",
        efa_installer=(row.efa_installer if row else "") or (ami.efa_installer if ami else ""),
    )
    settings: tuple[Setting, ...] = ()
    undecided: tuple[Setting, ...] = ()
    if gpu is not None:
        chosen, undecided = choose_communication_settings(
            manifest.rules, stack, efa=wish.efa, instance_family=wish.family, gpu_model=gpu.gpu_model
        )
        settings = choose_precision_settings(gpu) + chosen
    components = _components(wish, ami, row)
    because, reference = _because(wish, ami, row, source)
    plan = ImagePlan(
        name=wish.name,
        framework=wish.framework,
        framework_version=stack.framework_version or wish.framework_version,
        architecture=wish.architecture,
        source=source,
        ami_type=("CUSTOM" if source != "eks-release" else _ami_type(wish)) if wish.role == "eks" else None,
        release_version=(wish.pinned.get("release_version") or (ami.release_version if ami else None))
        if source == "eks-release"
        else None,
        ami_id=wish.pinned.get("ami_id") if source == "ami-id" else None,
        ami_name=(wish.pinned.get("ami_name") or (ami.ami_name if ami else None)) if source == "ami-name" else None,
        ami_owner=(wish.pinned.get("ami_owner") or (ami.ami_owner if ami else None)) if source == "ami-name" else None,
        container=image,
        gib=_root_gib(wish, ami, row, image),
        components=components,
        environment={setting.variable: setting.value for setting in sorted(settings, key=lambda item: item.variable)},
        because=because,
        reference=reference,
    )
    return plan, _decisions(wish, plan, ami, row, gpu, settings, undecided)


def _decisions(
    wish: _Wish,
    plan: ImagePlan,
    ami: AmiPin | None,
    row: FrameworkRow | None,
    gpu: GpuRow | None,
    settings: tuple[Setting, ...],
    undecided: tuple[Setting, ...],
) -> tuple[Decision, ...]:
    base = f"images.{wish.name}"
    chosen = plan.release_version or plan.ami_name or plan.ami_id or plan.source
    decisions = [Decision(subject=base, choice=chosen, because=plan.because, source=plan.reference)]
    if plan.container:
        text = f"{row.framework} {row.framework_version} for {wish.architecture}" if row else "pinned by the user"
        if row and row.doubts:
            text += f"; {row.doubts}"
        decisions.append(
            Decision(
                subject=f"{base}.container",
                choice=plan.container,
                because=text,
                source=f"{row.source} ({row.as_of})" if row else "stack file",
            )
        )
    if gpu is not None:
        decisions.append(_driver_decision(base, gpu, ami))
    for setting in settings:
        decisions.append(
            Decision(
                subject=f"{base}.environment.{setting.variable}",
                choice=setting.value,
                because=setting.because,
                source=setting.source,
            )
        )
    for setting in undecided:
        decisions.append(
            Decision(
                subject=f"{base}.environment.{setting.variable}",
                choice="not set",
                because=f"depends on a version that is not known inside this image ({setting.because})",
                source=setting.source,
            )
        )
    return tuple(sorted(decisions, key=lambda decision: (decision.subject, decision.choice)))


def _driver_decision(base: str, gpu: GpuRow, ami: AmiPin | None) -> Decision:
    flavour = {
        "open": "the open kernel module only",
        "proprietary": "the proprietary kernel module only",
        "either": "the open kernel module, which AWS images load from Turing on",
    }[gpu.kernel_module]
    span = []
    if gpu.driver_min_branch:
        span.append(f"from {gpu.driver_min_branch}")
    if gpu.driver_max_branch:
        span.append(f"up to {gpu.driver_max_branch}")
    reason = f"{gpu.gpu_model} ({gpu.gpu_architecture}) runs with {flavour}"
    if span:
        reason += f", driver {' and '.join(span)}"
    if gpu.imex:
        reason += "; NVLink across the rack needs IMEX"
    if gpu.fabric_manager:
        reason += "; NVSwitch needs the fabric manager of the same version"
    return Decision(
        subject=f"{base}.driver",
        choice=(ami.driver if ami and ami.driver else "unknown"),
        because=reason + (f"; {gpu.doubts}" if gpu.doubts else ""),
        source=f"{gpu.source} ({gpu.as_of})",
    )


def _components(wish: _Wish, ami: AmiPin | None, row: FrameworkRow | None) -> dict[str, str]:
    """Return what is known to be inside, sorted by name; host parts first win over none, unknown ones are absent."""
    found: dict[str, str] = {}
    if ami is not None:
        found |= {
            "containerd": ami.containerd,
            "cuda": ami.cuda,
            "dcgm": ami.dcgm,
            "driver": ami.driver,
            "efa_driver": ami.efa_driver,
            "efa_installer": ami.efa_installer,
            "kernel": ami.kernel,
            "nvidia_container_toolkit": ami.container_toolkit,
            "ofi_nccl": ami.ofi_nccl,
            "operating_system": ami.operating_system,
            "python": ami.python,
        }
        if wish.role == "eks":
            found["kubernetes"] = ami.release_version.partition("-")[0]
    if row is not None:
        inside = {
            "cuda": row.cuda,
            "cudnn": row.cudnn,
            "efa_installer": row.efa_installer,
            "nccl": row.nccl,
            "ofi_nccl": row.ofi_nccl,
            "python": row.python,
            row.framework: row.framework_version,
        }
        found |= {key: value for key, value in inside.items() if value}
    elif ami is not None and ami.framework:
        found[ami.framework] = ami.framework_version
    for key in ("driver", "cuda", "efa_installer"):
        if wish.pinned.get(key) and not found.get(key):
            found[key] = wish.pinned[key]
    return {key: found[key] for key in sorted(found) if found[key]}


def _because(wish: _Wish, ami: AmiPin | None, row: FrameworkRow | None, source: str) -> tuple[str, str]:
    if source == "existing":
        text = "the nodes keep their own system; container and environment are chosen for their GPU"
        return text, f"{row.source} ({row.as_of})" if row is not None else "stack file"
    if source == "ami-id":
        return f"AMI {wish.pinned['ami_id']} is pinned by the user; what is inside is not known here", "stack file"
    if ami is None:
        pin = wish.pinned.get("release_version") or wish.pinned.get("ami_name", "")
        return (
            f"`{pin}` is pinned by the user and newer than the manifest: its versions are not known here",
            "stack file",
        )
    text = (
        f"EKS release {ami.release_version} of {ami.ami_type}"
        if source == "eks-release"
        else f"`{ami.ami_name}` of owner {ami.ami_owner}"
    )
    details = [f"{label} {value}" for label, value in (("driver", ami.driver), ("kernel", ami.kernel)) if value]
    if row is not None:
        details.append(f"{row.framework} {row.framework_version} in its container")
    if details:
        text += f" with {', '.join(details)}"
    if ami.doubts:
        text += f"; {ami.doubts}"
    return text, f"{ami.source} ({ami.as_of})"


def _root_gib(wish: _Wish, ami: AmiPin | None, row: FrameworkRow | None, image: str | None) -> int:
    """Return root space in GiB: the AMI's own and, on a node, the unpacked framework container."""
    if wish.role == "existing":
        return 0
    base = ami.gib if ami is not None else (75 if wish.role == "ec2" else 20)
    if not image:
        return base
    size = float(row.container_gb) if row is not None and row.container_gb else UNKNOWN_CONTAINER_GB
    return base + ceil(size * GIB_PER_GB)


def _nearest_amis(manifest: ImageManifest, wish: _Wish, gpu: GpuRow | None) -> tuple[str, ...]:
    """Return up to three AMIs that share the most with the wish, by name or release."""

    def distance(row: AmiPin) -> tuple[int, int, str]:
        misses = (
            (row.role != wish.role) * 8
            + (row.cpu_architecture != wish.architecture) * 4
            + (bool(row.instance_families) and wish.family not in row.instance_families) * 3
            + (row.framework != (wish.framework or "")) * 2
            + (bool(row.kubernetes) and row.kubernetes != wish.kubernetes)
        )
        return misses, row.preference, row.id

    if gpu is None:
        rows = [row for row in manifest.amis if row.role == wish.role]
    else:
        rows = [row for row in manifest.amis if row.driver and not _refusal_by_driver(row, gpu)]
    ordered = sorted(rows, key=distance)[:3]
    return tuple(f"{row.ami_type} {row.release_version}" if row.release_version else row.ami_name for row in ordered)


def _refusal_by_driver(row: AmiPin, gpu: GpuRow) -> bool:
    branch = parse_version(row.driver)[0]
    return bool(
        (gpu.driver_min_branch and branch < int(gpu.driver_min_branch))
        or (gpu.driver_max_branch and branch > int(gpu.driver_max_branch))
    )


def _nearest_frameworks(
    manifest: ImageManifest, wish: _Wish, gpu: GpuRow | None, ami: AmiPin | None
) -> tuple[str, ...]:
    """Return up to three versions that would run there: the same framework first, then others."""
    relaxed = replace(wish, framework_version=None, pinned={})
    fitting = [
        row
        for row in manifest.frameworks
        if row.cpu_architecture == wish.architecture and not _container_refusal(row, relaxed, gpu, ami)
    ]
    fitting.sort(key=lambda row: (row.framework != wish.framework, row.preference, row.id))
    return tuple(f"{row.framework} {row.framework_version}" for row in fitting[:3])


def _framework_fits(version: str, wish: _Wish) -> bool:
    return (
        wish.framework_version is None
        or starts_with(version, wish.framework_version)
        or (
            # A DLAMI states 2.9 where people write 2.9.0: the shorter one decides.
            bool(version) and starts_with(wish.framework_version, version)
        )
    )


def _ami_type(wish: _Wish) -> str:
    known = _EKS_TYPE.get((wish.accelerator, wish.architecture))
    if known is None:
        raise UnknownCombination(
            f"images.{wish.name}: {wish.accelerator} nodes on {wish.architecture}",
            why="EKS publishes no AMI type for it",
            fix="pin `ami_id` of an image you have built",
            nearest=tuple(sorted(_EKS_TYPE.values())),
        )
    return known


def _cpu_architecture(text: str) -> str:
    return {"amd64": "x86_64", "aarch64": "arm64"}.get(text, text)


def _minor(version: str | None) -> str:
    return ".".join((version or "").removeprefix("v").split(".")[:2])
