"""Decide number formats from the environment or, where it is silent, from the GPU's compute capability."""

import os
from collections import namedtuple

Settings = namedtuple("Settings", "architecture training_precision loss_scaling precisions source")
"""architecture: Hopper, ...; training_precision: fp32, fp16 or bf16; loss_scaling: bool; precisions: tuple of names."""

# Compute capability from which on: architecture, training precision, loss scaling, formats.
GENERATIONS = (
    ((12, 0), "Blackwell", "bf16", False, ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")),
    ((10, 3), "Blackwell Ultra", "bf16", False, ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")),
    ((10, 0), "Blackwell", "bf16", False, ("fp32", "tf32", "fp16", "bf16", "fp8", "fp4")),
    ((9, 0), "Hopper", "bf16", False, ("fp32", "tf32", "fp16", "bf16", "fp8")),
    ((8, 9), "Ada", "bf16", False, ("fp32", "tf32", "fp16", "bf16", "fp8")),
    ((8, 0), "Ampere", "bf16", False, ("fp32", "tf32", "fp16", "bf16")),
    ((7, 5), "Turing", "fp16", True, ("fp32", "fp16")),
    ((7, 0), "Volta", "fp16", True, ("fp32", "fp16")),
)


def settings(environment=None):
    """Return the settings of this process."""
    return decide(os.environ if environment is None else environment, capability())


def decide(environment, found):
    """
    Return settings from an environment and a compute capability such as (9, 0), or None without a GPU.

    The environment wins, unless the GPU cannot do what it says: then the GPU does, because a program that starts with
    the wrong format is worse than one in a format nobody asked for.
    """
    by_gpu = _of_capability(found)
    wanted = environment.get("GPUKIT_TRAINING_PRECISION", "")
    if not wanted:
        return by_gpu
    formats = tuple(name for name in environment.get("GPUKIT_PRECISIONS", "").split(",") if name) or ("fp32", wanted)
    if found is not None and wanted not in by_gpu.precisions:
        return by_gpu
    if found is not None:
        formats = tuple(name for name in formats if name in by_gpu.precisions)
    return Settings(
        environment.get("GPUKIT_GPU_ARCHITECTURE", by_gpu.architecture),
        wanted,
        environment.get("GPUKIT_LOSS_SCALING", "1" if wanted == "fp16" else "0") == "1",
        formats,
        "environment",
    )


def capability():
    """Return the compute capability of GPU 0 as PyTorch sees it, if it is loaded, else as the driver says; or None."""
    import sys

    torch = sys.modules.get("torch")
    if torch is not None:
        return tuple(torch.cuda.get_device_capability(0)) if torch.cuda.is_available() else None
    return _capability_by_driver()


def _of_capability(found):
    if found is None:
        return Settings("", "fp32", False, ("fp32",), "no GPU")
    for least, architecture, precision, scaling, formats in GENERATIONS:
        if tuple(found) >= least:
            return Settings(architecture, precision, scaling, formats, "GPU")
    return Settings("", "fp32", False, ("fp32",), "GPU")


def _capability_by_driver():
    import subprocess

    command = ["nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader", "--id=0"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
        major, _, minor = done.stdout.strip().partition(".")
        return (int(major), int(minor))
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
