"""Derive the power of a node from the power rules: a share of a known server, or its parts."""

from collections.abc import Iterable

from gpukit.catalog.hardware import GpuModel, InstanceType, NodePower, PowerRule, ServerPower


def choose_power_rule(instance_type: str, rules: Iterable[PowerRule]) -> PowerRule | None:
    """Return the rule that names the type, else the one for all types (`*`), else None."""
    fallback = None
    for rule in rules:
        if instance_type in rule.applies_to:
            return rule
        if "*" in rule.applies_to:
            fallback = rule
    return fallback


def estimate_node_power(
    instance: InstanceType, gpu: GpuModel, rule: PowerRule, servers: Iterable[ServerPower]
) -> NodePower | None:
    """
    Return the power of one instance at full load, in kW; None where a part of the sum is unknown.

    By share: p5.48xlarge is one server of 8 H100, 10.2 kW. By parts: (GPUs x TDP + vCPU x watts + GiB x watts) x
    overhead. It errs high, so that a cooling zone is filled too little rather than too much.
    """
    if rule.method == "server-share":
        server = next((server for server in servers if server.system == rule.system), None)
        if server is None or rule.share is None:
            return None
        kind = "vendor-maximum" if server.basis.startswith("vendor") and rule.share == 1 else "estimate"
        return _row(
            instance,
            watts=server.power_w * rule.share,
            kind=kind,
            basis=f"{_share(rule.share)}{server.system}, {server.power_w:g} W ({server.basis})",
            rule=rule,
        )
    if None in (gpu.tdp_w, rule.overhead, rule.w_per_vcpu, rule.w_per_gib, instance.memory_gib):
        return None
    assert gpu.tdp_w is not None
    assert rule.overhead is not None
    assert rule.w_per_vcpu is not None
    assert rule.w_per_gib is not None
    assert instance.memory_gib is not None
    parts = instance.gpu_count * gpu.tdp_w + instance.vcpu * rule.w_per_vcpu + instance.memory_gib * rule.w_per_gib
    basis = (
        f"({instance.gpu_count:g} x {gpu.tdp_w:g} W + {instance.vcpu} vCPU x {rule.w_per_vcpu:g} W"
        f" + {instance.memory_gib:g} GiB x {rule.w_per_gib:g} W) x {rule.overhead:g}"
    )
    return _row(instance, watts=parts * rule.overhead, kind="estimate", basis=basis, rule=rule)


def _share(share: float) -> str:
    return "" if share == 1 else f"1/{1 / share:.0f} of "


def _row(instance: InstanceType, *, watts: float, kind: str, basis: str, rule: PowerRule) -> NodePower:
    return NodePower(
        instance_type=instance.name,
        kw=round(watts / 1000, 6),
        kind=kind,
        basis=basis,
        source=rule.source,
        as_of=rule.as_of,
        doubts=rule.doubts,
    )
