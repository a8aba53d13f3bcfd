"""GK7008: a Capacity Block ends before jobs can save their state."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_EVENT_MINUTES = 10


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning where a dated block has no durable store, and where checkpoints take longer than the notice."""
    plan = context.plan
    ending = sorted(
        {
            group.pool
            for _, group in context.node_groups()
            if group.capacity.mode == "capacity-block" and group.capacity.ends
        }
    )
    if not ending:
        return
    durable = [
        store.name
        for store in plan.storage
        if store.kind in ("s3", "efs")
        or (store.kind == "lustre" and not (store.deployment_type or "").startswith("SCRATCH"))
    ]
    if context.spec.workload is not None and not durable:
        yield tell(
            "GK7008",
            Severity.WARNING,
            "storage",
            problem=f"the block of `{ending[0]}` ends, and no store keeps what its jobs have learnt",
            fix="add a store of kind lustre, efs or s3 for checkpoints",
        )
    workload = context.spec.workload
    if workload is not None and workload.checkpoint_seconds > _EVENT_MINUTES * 60:
        yield tell(
            "GK7008",
            Severity.WARNING,
            "workload.checkpoint_seconds",
            problem=f"a checkpoint takes {workload.checkpoint_seconds:,.0f} s, and the end is announced "
            f"{_EVENT_MINUTES} minutes before",
            fix="write it faster, or end the job by the calendar",
        )


RULE = Rule(
    code="GK7008",
    title="a Capacity Block ends before jobs can save their state",
    severity=Severity.WARNING,
    needs="plan",
    check=check,
    why=(
        "AWS ends the instances of a block 30 minutes before its end (60 for an UltraServer), and tells "
        "them 10 minutes earlier"
    ),
    source='limits.csv, cb-end ; EC2 User Guide, "Capacity Blocks for ML"',
)
