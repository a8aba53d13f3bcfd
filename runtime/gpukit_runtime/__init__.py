"""
What a training program needs to know about the GPU under it: number formats, loss scaling, communication.

Baked into gpukit's images. The environment says what was decided (`GPUKIT_*`); where it says nothing, the GPU is asked.
Nothing but the standard library is imported before a framework is asked for by name.

    import gpukit_runtime as gpu

    with gpu.autocast():            # torch.autocast in BF16 from A100 on, FP16 before, nothing on a CPU
        loss = model(batch)
    scaler = gpu.grad_scaler()      # scales losses with FP16 only
"""

from gpukit_runtime.decide import Settings, decide, settings
from gpukit_runtime.frameworks import autocast, fp8_recipe, grad_scaler, set_tensorflow_policy, torch_dtype

__all__ = [
    "Settings",
    "autocast",
    "decide",
    "fp8_recipe",
    "grad_scaler",
    "set_tensorflow_policy",
    "settings",
    "torch_dtype",
]
