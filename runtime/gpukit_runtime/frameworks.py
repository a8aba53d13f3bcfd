"""The settings in the words of PyTorch, TensorFlow and Transformer Engine."""

import contextlib

from gpukit_runtime.decide import settings


def torch_dtype(chosen=None):
    """Return `torch.bfloat16`, `torch.float16` or `torch.float32`."""
    import torch

    names = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}
    return names[(chosen or settings()).training_precision]


def autocast(chosen=None):
    """Return a context for the forward pass: `torch.autocast` on a GPU, nothing elsewhere or with FP32."""
    import torch

    chosen = chosen or settings()
    if chosen.training_precision == "fp32" or not torch.cuda.is_available():
        return contextlib.nullcontext()
    return torch.autocast("cuda", dtype=torch_dtype(chosen))


def grad_scaler(chosen=None):
    """Return a gradient scaler that scales only where FP16 needs it."""
    import torch

    chosen = chosen or settings()
    return torch.amp.GradScaler("cuda", enabled=chosen.loss_scaling and torch.cuda.is_available())


def fp8_recipe(chosen=None):
    """Return Transformer Engine's FP8 recipe, or None where GPU or library cannot do it: then BF16 stays."""
    chosen = chosen or settings()
    if "fp8" not in chosen.precisions:
        return None
    try:
        from transformer_engine.common import recipe
    except ImportError:
        return None
    return recipe.DelayedScaling(fp8_format=recipe.Format.HYBRID)


def set_tensorflow_policy(chosen=None):
    """Set Keras' policy (mixed_bfloat16, mixed_float16 or float32) and return its name."""
    import tensorflow as tf

    chosen = chosen or settings()
    name = {"bf16": "mixed_bfloat16", "fp16": "mixed_float16", "fp32": "float32"}[chosen.training_precision]
    if not tf.config.list_physical_devices("GPU"):
        name = "float32"
    tf.keras.mixed_precision.set_global_policy(name)
    return name
