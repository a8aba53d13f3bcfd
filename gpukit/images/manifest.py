"""
The compatibility manifest: GPUs, AMIs, framework containers and communication rules, read from CSV.

An empty cell is unknown, never zero. Every row carries its `source` (slugs of `image_sources.csv`) and its date.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent.parent / "catalog" / "data"


class ImageError(ValueError):
    """A wish for an image that cannot be met: what, why and what to do instead."""

    def __init__(self, problem: str, *, why: str, fix: str, nearest: tuple[str, ...] = (), source: str = "") -> None:
        super().__init__(problem)
        self.problem = problem
        self.why = why
        self.fix = fix
        self.nearest = nearest
        self.source = source


class UnknownCombination(ImageError):
    """The manifest has no row that fits; `nearest` names the known ones closest to the wish."""


class FloatingPin(ImageError):
    """A pin that can point to something else tomorrow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuRow:
    """What one GPU model asks of driver and CUDA, and the number formats it computes in."""

    gpu_model: str
    gpu_architecture: str
    compute_capability: str
    cpu_architecture: str
    driver_min_branch: str
    driver_max_branch: str
    kernel_module: str
    """open | proprietary | either"""
    cuda_min: str
    cuda_below: str
    training_precision: str
    loss_scaling: bool
    tf32: bool
    bf16: bool
    fp8: bool
    fp4: bool
    fabric_manager: bool
    imex: bool
    source: str
    as_of: str
    doubts: str

    @property
    def precisions(self) -> tuple[str, ...]:
        """All formats the tensor cores take, widest first."""
        half = () if self.training_precision == "fp32" else ("fp16",)
        extra = tuple(name for name in ("bf16", "fp8", "fp4") if getattr(self, name))
        return ("fp32", *(("tf32",) if self.tf32 else ()), *half, *extra)


@dataclass(frozen=True, slots=True, kw_only=True)
class AmiPin:
    """One AMI by exact release or exact, dated name, with what is known to be inside."""

    id: str
    role: str
    """eks | ec2"""
    kubernetes: str
    ami_type: str
    release_version: str
    ami_name: str
    ami_owner: str
    cpu_architecture: str
    framework: str
    framework_version: str
    instance_families: tuple[str, ...]
    operating_system: str
    kernel: str
    driver: str
    cuda: str
    efa_driver: str
    efa_installer: str
    ofi_nccl: str
    container_toolkit: str
    containerd: str
    dcgm: str
    python: str
    gib: int
    preference: int
    """Lowest first."""
    source: str
    as_of: str
    doubts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkRow:
    """One framework version as a container image with an exact tag."""

    id: str
    framework: str
    framework_version: str
    cpu_architecture: str
    container: str
    container_gb: str
    python: str
    cuda: str
    cudnn: str
    nccl: str
    ofi_nccl: str
    efa_installer: str
    operating_system: str
    driver_min_branch: str
    compute_min: str
    compute_max: str
    preference: int
    source: str
    as_of: str
    doubts: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CommunicationRule:
    """When one NCCL, libfabric or framework variable is set, left alone or forbidden."""

    variable: str
    value: str
    action: str
    """set | leave | forbid"""
    scope: str
    """all | test (proof jobs only)"""
    needs_efa: bool
    instance_families: tuple[str, ...]
    gpu_models: tuple[str, ...]
    ofi_min: str
    ofi_below: str
    nccl_min: str
    nccl_below: str
    efa_installer_below: str
    framework: str
    framework_min: str
    reason: str
    source: str
    as_of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageManifest:
    """All rows, in file order."""

    gpus: tuple[GpuRow, ...]
    amis: tuple[AmiPin, ...]
    frameworks: tuple[FrameworkRow, ...]
    rules: tuple[CommunicationRule, ...]

    def gpu(self, model: str) -> GpuRow | None:
        """Return the row of a GPU model, or None where the manifest does not know it."""
        return next((row for row in self.gpus if row.gpu_model == model), None)


@cache
def load_manifest(folder: Path = DATA) -> ImageManifest:
    """Return the manifest read from `folder`; ValueError names the file, row and column of a bad cell."""
    return ImageManifest(
        gpus=tuple(_read(folder / "image_manifest.csv", GpuRow)),
        amis=tuple(_read(folder / "ami_pins.csv", AmiPin)),
        frameworks=tuple(_read(folder / "framework_versions.csv", FrameworkRow)),
        rules=tuple(_read(folder / "communication_rules.csv", CommunicationRule)),
    )


def _read(path: Path, kind: type[Any]) -> list[Any]:
    import csv

    with path.open(encoding="utf-8", newline="") as file:
        return [_convert(row, kind, f"{path.name}:{number}") for number, row in enumerate(csv.DictReader(file), 2)]


def _convert(row: Mapping[str, str], kind: type[Any], place: str) -> Any:
    values: dict[str, Any] = {}
    for item in fields(kind):
        text = (row.get(item.name) or "").strip()
        if item.type is bool:
            if text not in ("yes", "no", ""):
                raise ValueError(f"{place}: {item.name} is `{text}`, not yes or no")
            values[item.name] = text == "yes"
        elif item.type is int:
            values[item.name] = int(text)
        elif item.type == tuple[str, ...]:
            values[item.name] = tuple(part for part in text.split("|") if part)
        else:
            values[item.name] = text
    return kind(**values)
