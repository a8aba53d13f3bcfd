"""
Precision and communication settings: only what the GPU and the plug-in version need, each with its reason.

The NCCL plug-in sets most variables itself, per platform; setting them again freezes old advice. A rule that depends on
a version nobody knows is not applied, and says so.
"""

from dataclasses import dataclass

from gpukit.images.manifest import CommunicationRule, GpuRow
from gpukit.images.versions import is_at_least, is_below
from gpukit.plan import ImagePlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One environment variable with its reason."""

    variable: str
    value: str
    because: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The versions that rules look at; an empty one is unknown."""

    framework: str = ""
    framework_version: str = ""
    ofi_nccl: str = ""
    nccl: str = ""
    efa_installer: str = ""


def choose_precision_settings(gpu: GpuRow) -> tuple[Setting, ...]:
    """Return the precision variables of a GPU generation, as `gpukit_runtime` reads them."""
    reason = {
        "fp32": "no tensor cores",
        "fp16": "FP16 with loss scaling: this generation has no BF16",
        "bf16": "BF16 from Ampere on: the range of FP32, so no loss scaling",
    }[gpu.training_precision]
    formats = ", ".join(gpu.precisions)
    extra = ""
    if gpu.fp8:
        extra += "; FP8 through Transformer Engine"
    if gpu.fp4:
        extra += "; FP4 (NVFP4) on Blackwell"
    return (
        Setting(
            variable="GPUKIT_GPU_ARCHITECTURE",
            value=gpu.gpu_architecture,
            because=f"{gpu.gpu_model} is {gpu.gpu_architecture}, compute capability {gpu.compute_capability}",
            source=gpu.source,
        ),
        Setting(
            variable="GPUKIT_LOSS_SCALING",
            value="1" if gpu.loss_scaling else "0",
            because="FP16 gradients underflow without it" if gpu.loss_scaling else "BF16 and FP32 do not need it",
            source=gpu.source,
        ),
        Setting(
            variable="GPUKIT_PRECISIONS",
            value=",".join(gpu.precisions),
            because=f"the tensor cores of {gpu.gpu_model} take {formats}{extra}",
            source=gpu.source,
        ),
        Setting(variable="GPUKIT_TRAINING_PRECISION", value=gpu.training_precision, because=reason, source=gpu.source),
    )


def choose_communication_settings(
    rules: tuple[CommunicationRule, ...],
    stack: Stack,
    *,
    efa: bool,
    instance_family: str,
    gpu_model: str,
    scope: str = "all",
) -> tuple[tuple[Setting, ...], tuple[Setting, ...]]:
    """
    Return (settings to write, rules left undecided because a version is unknown).

    `scope` is `all` for nodes and pods, `test` for what only a proof job sets.
    """
    chosen: list[Setting] = []
    undecided: list[Setting] = []
    for rule in rules:
        if rule.action != "set" or rule.scope != scope:
            continue
        verdict = _applies(rule, stack, efa=efa, instance_family=instance_family, gpu_model=gpu_model)
        if verdict is False:
            continue
        setting = Setting(variable=rule.variable, value=rule.value, because=rule.reason, source=rule.source)
        (chosen if verdict else undecided).append(setting)
    return tuple(sorted(chosen, key=_by_name)), tuple(sorted(undecided, key=_by_name))


def find_forbidden_settings(
    rules: tuple[CommunicationRule, ...], environment: dict[str, str], *, efa: bool
) -> tuple[Setting, ...]:
    """Return the settings of a user's environment that do harm, with the reason; a rule without value forbids any."""
    return tuple(
        Setting(variable=rule.variable, value=environment[rule.variable], because=rule.reason, source=rule.source)
        for rule in rules
        if rule.action == "forbid"
        and rule.variable in environment
        and (not rule.value or environment[rule.variable] == rule.value)
        and (efa or not rule.needs_efa)
    )


def _applies(rule: CommunicationRule, stack: Stack, *, efa: bool, instance_family: str, gpu_model: str) -> bool | None:
    """Decide one rule: True, False, or None where it hangs on a version that is not known."""
    if rule.needs_efa and not efa:
        return False
    if rule.instance_families and instance_family not in rule.instance_families:
        return False
    if rule.gpu_models and gpu_model not in rule.gpu_models:
        return False
    if rule.framework and rule.framework != stack.framework:
        return False
    conditions = [
        is_at_least(stack.ofi_nccl, rule.ofi_min) if rule.ofi_min else True,
        is_below(stack.ofi_nccl, rule.ofi_below) if rule.ofi_below else True,
        is_at_least(stack.nccl, rule.nccl_min) if rule.nccl_min else True,
        is_below(stack.nccl, rule.nccl_below) if rule.nccl_below else True,
        is_below(stack.efa_installer, rule.efa_installer_below) if rule.efa_installer_below else True,
        is_at_least(stack.framework_version, rule.framework_min) if rule.framework_min else True,
    ]
    if any(condition is False for condition in conditions):
        return False
    return None if any(condition is None for condition in conditions) else True


def _by_name(setting: Setting) -> str:
    return setting.variable


def explain_variable(rules: tuple[CommunicationRule, ...], variable: str, value: str) -> str:
    """Return why a variable is set, for a comment beside it; the user's own one where no rule knows it."""
    for rule in rules:
        if rule.variable == variable and rule.action == "set" and rule.value == value:
            return rule.reason
    return _PRECISION_REASONS.get(variable, "set by the stack file")


_PRECISION_REASONS = {
    "GPUKIT_GPU_ARCHITECTURE": "the GPU generation that the next lines follow from",
    "GPUKIT_LOSS_SCALING": "1 where FP16 gradients would underflow, 0 with BF16",
    "GPUKIT_PRECISIONS": "the formats that the tensor cores take",
    "GPUKIT_TRAINING_PRECISION": "read by gpukit_runtime for PyTorch autocast and the TensorFlow policy",
}


def choose_proof_environment(image: ImagePlan, *, efa: bool, instance_type: str, gpu_model: str) -> dict[str, str]:
    """
    Return the environment of a proof job: the image's own, and what makes NCCL say which provider it took.

    Sorted by name. With EFA the job's log must hold `NET/OFI Selected provider is efa`; a line with `NET/Socket` in
    its place is the silent fall to TCP that the job is there to find.
    """
    from gpukit.images.manifest import load_manifest

    stack = Stack(
        framework=image.framework or "",
        framework_version=image.framework_version or "",
        ofi_nccl=image.components.get("ofi_nccl", ""),
        nccl=image.components.get("nccl", ""),
        efa_installer=image.components.get("efa_installer", ""),
    )
    loud, _ = choose_communication_settings(
        load_manifest().rules,
        stack,
        efa=efa,
        instance_family=instance_type.split(".")[0].removeprefix("u-"),
        gpu_model=gpu_model,
        scope="test",
    )
    return dict(sorted({**image.environment, **{item.variable: item.value for item in loud}}.items()))
