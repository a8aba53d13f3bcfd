"""GK1039: huge pages or shared memory beyond the memory of a node."""

from collections.abc import Iterator

from gpukit.checks.rule import CheckContext, Rule, tell
from gpukit.finding import Finding, Severity

_PAGES_PER_GIB = 512
"""Huge pages of 2 MiB in a GiB."""


def check(context: CheckContext) -> Iterator[Finding]:
    """Yield a finding for each setting that takes as much memory as a node of the pool has, or more."""
    for name, pool in context.spec.pools.items():
        planned = context.pool_plan(name)
        if planned is None or planned.memory_gib_per_node <= 0:
            continue
        memory = planned.memory_gib_per_node
        pages, shared = pool.node.hugepages_2mi or 0, pool.node.shared_memory_gib or 0
        if pages / _PAGES_PER_GIB >= memory:
            yield tell(
                "GK1039",
                Severity.ERROR,
                f"pools.{name}.node.hugepages_2mi",
                problem=f"{pages:,} pages of 2 MiB are {pages / _PAGES_PER_GIB:,.0f} GiB, and {planned.instance_type} "
                f"has {memory:,.0f} GiB",
                fix=f"stay well below {int(memory * _PAGES_PER_GIB):,} pages: system and pods need memory too",
                why="they are set aside at boot, nothing is left for the system, and the node never joins",
            )
        elif shared > memory:
            yield tell(
                "GK1039",
                Severity.ERROR,
                f"pools.{name}.node.shared_memory_gib",
                problem=f"{shared:,} GiB of shared memory, and {planned.instance_type} has {memory:,.0f} GiB",
                fix=f"use {int(memory / 2):,} GiB or less: half of the memory is what Linux takes by itself",
                why="a job that fills it is killed by the kernel, with no error that says what is full",
            )


RULE = Rule(
    code="GK1039",
    title="huge pages or shared memory beyond the memory of a node",
    severity=Severity.ERROR,
    needs="plan",
    check=check,
    why="memory that is not there holds neither the system nor a job",
    source='instance_types.csv and helper_types.csv: memory ; Linux kernel documentation, "HugeTLB Pages" and "Tmpfs"',
)
