"""What `make up` says at its end: what stands, what it would cost, how to connect, and what to try next."""

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from gpukit.counted import counted
from gpukit.plan import Plan, PoolPlan, StoragePlan

CONNECTIONS = ("connect", "jupyter", "start")
"""Outputs of a stack that are commands for people."""


def render_summary(
    plan: Plan,
    outputs: dict[str, Any],
    *,
    stack: str,
    stack_file: Path,
    resources: int,
    all_resources: int,
    seconds: float,
) -> str:
    """Return the summary of a stack that stands in the sandbox, with three commands to try next."""
    connections = [f"  {name:<12} {outputs[name]}" for name in CONNECTIONS if outputs.get(name)]
    stands = f"{counted(resources, 'cloud resource')} ({all_resources} with components and providers)"
    lines = [
        "",
        f"{stack} stands in the sandbox: {stands} in {seconds:.0f} s; nothing of it costs money",
        "",
        *(f"  {pool.name:<12} {_pool(pool)}" for pool in plan.all_pools),
        *(f"  {store.name:<12} {_store(store)}" for store in plan.storage),
        f"  {'list price':<12} {_price(plan)}",
        *(f"  {'not built':<12} {item.section}: {item.says}" for item in plan.not_built),
        *(["", "On a real account (the sandbox boots no machine):", *connections] if connections else []),
        "",
        "Next:",
        *_next_commands(stack, stack_file),
    ]
    return "\n".join(lines)


def gpukit_command() -> str:
    """Return how to call gpukit from here: by name where PATH has it, else by the path beside this Python."""
    if shutil.which("gpukit"):
        return "gpukit"
    beside = Path(sys.executable).parent / "gpukit"
    return tell_path(beside) if beside.is_file() else f"{tell_path(Path(sys.executable))} -m gpukit"


def tell_path(path: Path) -> str:
    """Return a path as seen from the working directory, or whole where it lies elsewhere."""
    here = os.path.relpath(path)
    return str(path) if here.startswith("..") else here


def _next_commands(stack: str, stack_file: Path) -> list[str]:
    commands = {
        f"make preview STACK={stack}": f"nothing is left to do; edit {tell_path(stack_file)} and look again",
        f"{gpukit_command()} plan --stack {stack}": "every number behind it, without engine or cloud",
        f"make down STACK={stack}": "take it down again",
    }
    width = max(map(len, commands)) + 2
    return [f"  {command:<{width}}{what}" for command, what in commands.items()]


def _pool(pool: PoolPlan) -> str:
    words = [f"{pool.nodes:,} x {pool.instance_type}"]
    if len(pool.node_groups) > 1:
        words.append(counted(len(pool.node_groups), "node group"))
    if pool.gpus:
        words.append(f"{pool.gpus:,} x {pool.gpu_model}")
    if pool.efa:
        words.append(counted(pool.efa_interfaces_per_node * pool.nodes, "EFA interface"))
    zones = dict.fromkeys(zone for group in pool.node_groups for zone in group.availability_zones)
    return ", ".join([*words, *zones])


def _store(store: StoragePlan) -> str:
    size = f", {store.gib:,} GiB" if store.gib else ""
    return f"{store.kind}{size}, at {store.mount_path}"


def _price(plan: Plan) -> str:
    if plan.totals.hourly_usd is None or plan.totals.monthly_usd is None:
        return "unknown"
    sums = f"${plan.totals.hourly_usd:,.2f} an hour, ${plan.totals.monthly_usd:,.0f} a month on a real account"
    if not plan.totals.unpriced:
        return sums
    left_out = counted(plan.totals.unpriced, "cost line")
    return f"at least {sums}: {left_out} without a known price {'is' if plan.totals.unpriced == 1 else 'are'} not in it"
