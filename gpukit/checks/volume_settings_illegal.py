"""GK4009: an EBS volume with settings that its type does not take."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_IOPS_PER_GIB = {"gp3": 500, "io1": 50, "io2": 1000}
_GIB = {
    "gp2": (1, 16_384),
    "gp3": (1, 65_536),
    "io1": (4, 16_384),
    "io2": (4, 65_536),
    "st1": (125, 16_384),
    "sc1": (125, 16_384),
}
_MIB_S_PER_IOPS = 0.25
_GP3_IOPS, _GP3_MIB_S = 3000, 125
"""What a gp3 volume has without asking."""


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each volume whose settings contradict its type."""
    for name, pool in context.spec.pools.items():
        volume = pool.root_volume
        yield from _judge(f"pools.{name}.root_volume", volume.type, volume.gib, volume.iops, volume.throughput_mb_s)
    for name, store in context.spec.storage.items():
        if store.kind == "ebs" and store.existing is None:
            yield from _judge(
                f"storage.{name}", store.volume_type or "gp3", store.gib, store.iops, store.throughput_mb_s
            )


def _judge(path: str, kind: str, gib: int | None, iops: int | None, mib_s: int | None) -> Iterator[Finding]:
    low, high = _GIB[kind]
    if gib is not None and not low <= gib <= high:
        yield tell(
            "GK4009",
            Severity.ERROR,
            f"{path}.gib",
            problem=f"{gib:,} GiB; {kind} takes {low:,} to {high:,}",
            fix="choose a size within these bounds, or another type",
        )
    if iops is not None and kind not in _IOPS_PER_GIB:
        yield tell(
            "GK4009", Severity.ERROR, f"{path}.iops", problem=f"{kind} takes no `iops`", fix="remove it, or use gp3"
        )
    elif iops is not None and kind == "gp3" and iops < _GP3_IOPS:
        yield tell(
            "GK4009",
            Severity.ERROR,
            f"{path}.iops",
            problem=f"{iops:,} operations per second; gp3 has {_GP3_IOPS:,} at least",
            fix="remove it",
        )
    elif (
        iops is not None
        and gib is not None
        and iops > max(_IOPS_PER_GIB[kind] * gib, _GP3_IOPS if kind == "gp3" else 0)
    ):
        yield tell(
            "GK4009",
            Severity.ERROR,
            f"{path}.iops",
            problem=f"{iops:,} operations per second on {gib:,} GiB; {kind} takes {_IOPS_PER_GIB[kind]:,} a GiB",
            fix=f"use at most {_IOPS_PER_GIB[kind] * gib:,}, or a larger volume",
        )
    elif iops is None and kind in ("io1", "io2"):
        yield tell("GK4009", Severity.ERROR, f"{path}.iops", problem=f"{kind} needs `iops`", fix="add it, or use gp3")
    if mib_s is not None and kind != "gp3":
        yield tell(
            "GK4009",
            Severity.ERROR,
            f"{path}.throughput_mb_s",
            problem=f"{kind} takes no `throughput_mb_s`",
            fix="remove it, or use gp3",
        )
    elif mib_s is not None and mib_s < _GP3_MIB_S:
        yield tell(
            "GK4009",
            Severity.ERROR,
            f"{path}.throughput_mb_s",
            problem=f"{mib_s} MiB/s; gp3 has {_GP3_MIB_S} at least",
            fix="remove it",
        )
    elif mib_s is not None and mib_s > (iops or _GP3_IOPS) * _MIB_S_PER_IOPS:
        needed = int(mib_s / _MIB_S_PER_IOPS)
        yield tell(
            "GK4009",
            Severity.ERROR,
            f"{path}.throughput_mb_s",
            problem=f"{mib_s:,} MiB/s with {iops or _GP3_IOPS:,} operations per second; gp3 takes 0.25 MiB/s for each",
            fix=f"set `iops: {needed}` as well",
        )


RULE = Rule(
    code="GK4009",
    title="an EBS volume with settings that its type does not take",
    severity=Severity.ERROR,
    needs="spec",
    check=check,
    why="EC2 refuses the volume, for a root volume on every node",
    source='EBS User Guide, "Amazon EBS volume types" ; EC2 API Reference, CreateVolume (botocore 1.44.8)',
)
