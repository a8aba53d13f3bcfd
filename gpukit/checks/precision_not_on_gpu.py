"""GK5003: a training precision that the GPU does not compute in."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a warning for each GPU pool whose GPU lacks the stated precision."""
    workload = context.spec.workload
    if workload is None or not context.is_written_by_user("workload.precision"):
        return
    wanted = workload.precision.value
    for pool in context.plan.pools:
        if pool.gpu_model is None:
            continue
        model = context.catalog.gpu_model(pool.gpu_model)
        if model.precisions and wanted not in model.precisions:
            yield tell(
                "GK5003",
                Severity.WARNING,
                "workload.precision",
                problem=f"`{wanted}` is no precision of {pool.gpu_model} (pool `{pool.name}`)",
                fix=f"use one of {', '.join(model.precisions)}, or a GPU that has it",
            )


RULE = Rule(
    code="GK5003",
    title="a training precision that the GPU does not compute in",
    severity=Severity.WARNING,
    needs="plan",
    check=check,
    why=(
        "the framework then converts on the fly, several times slower, or stops with an error after the model is loaded"
    ),
    source="gpu_models.csv, column precisions",
)
