"""GK2025: a MIG profile that the GPU does not have, or that does not fit."""

import re
from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each profile list that does not work on a GPU of its pool."""
    for name, pool in context.spec.pools.items():
        profiles = pool.sharing.mig
        if not profiles:
            continue
        path = f"pools.{name}.sharing.mig"
        for model_name in dict.fromkeys(row.gpu_model for row in context.gpu_types(pool)):
            model = context.catalog.gpu_model(model_name)
            if not model.mig:
                yield tell(
                    "GK2025",
                    Severity.ERROR,
                    path,
                    problem=f"{model_name} has no MIG",
                    fix="remove `mig`, or use `time_slices`",
                )
                continue
            if not model.mig_profiles:
                yield tell(
                    "GK2025",
                    Severity.UNKNOWN,
                    path,
                    problem=f"the MIG profiles of {model_name} are not known",
                    fix="check them on a node",
                )
                continue
            unknown = [profile for profile in profiles if model.mig_count(profile) is None]
            if unknown:
                yield tell(
                    "GK2025",
                    Severity.ERROR,
                    path,
                    problem=f"{model_name} has no MIG profile `{unknown[0][:40]}`",
                    fix=f"use of: {', '.join(model.mig_profiles)}",
                )
                continue
            slices = sum(_slices(profile) for profile in profiles)
            most = model.mig_max_instances or 7
            too_many = [p for p in set(profiles) if profiles.count(p) > (model.mig_count(p) or 0)]
            if slices > most or too_many:
                yield tell(
                    "GK2025",
                    Severity.ERROR,
                    path,
                    problem=f"{', '.join(profiles)} take {slices} slices of {model_name}, which has {most}"
                    if slices > most
                    else f"{profiles.count(too_many[0])} x {too_many[0]} do not fit on {model_name}",
                    fix="take fewer or smaller profiles",
                )


def _slices(profile: str) -> int:
    found = re.match(r"(\d+)g\.", profile)
    return int(found.group(1)) if found else 0


RULE = Rule(
    code="GK2025",
    title="a MIG profile that the GPU does not have, or that does not fit",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="the device plug-in refuses the layout, and the node offers no GPU at all",
    source="NVIDIA Multi-Instance GPU User Guide, supported profiles ; gpu_models.csv",
)
