"""What `make up` says at its end: what stands, what it would cost, how to connect, and what to try next."""

from typing import Any

from gpukit.plan import Plan, PoolPlan, StoragePlan

CONNECTIONS = ("connect", "jupyter", "start")
"""Outputs of a stack that are commands for people."""


def render_summary(plan: Plan, outputs: dict[str, Any], *, stack: str, resources: int, seconds: float) -> str:
    """Return the summary of a stack that stands in the sandbox, with three commands to try next."""
    lines = [
        "",
        f"{stack} stands in the sandbox: {resources} resources in {seconds:.0f} s; nothing of it costs money",
        "",
        *(f"  {pool.name:<12} {_pool(pool)}" for pool in plan.all_pools),
        *(f"  {store.name:<12} {_store(store)}" for store in plan.storage),
        f"  {'list price':<12} {_price(plan)}",
        *(f"  {name:<12} {outputs[name]}" for name in CONNECTIONS if outputs.get(name)),
        *(f"  {'not built':<12} {item.section}: {item.says}" for item in plan.not_built),
        "",
        "Next:",
        *_next_commands(stack),
    ]
    return "\n".join(lines)


def _next_commands(stack: str) -> list[str]:
    commands = {
        f"make preview STACK={stack}": f"nothing is left to do; edit stacks/Pulumi.{stack}.yaml and look again",
        f".venv/bin/gpukit plan --stack {stack}": "every number behind it, without engine or cloud",
        f"make down STACK={stack}": "take it down again",
    }
    width = max(map(len, commands)) + 2
    return [f"  {command:<{width}}{what}" for command, what in commands.items()]


def _pool(pool: PoolPlan) -> str:
    words = [f"{pool.nodes:,} x {pool.instance_type}"]
    if len(pool.node_groups) > 1:
        words.append(f"{len(pool.node_groups)} node groups")
    if pool.gpus:
        words.append(f"{pool.gpus:,} x {pool.gpu_model}")
    if pool.efa:
        words.append(f"{pool.efa_interfaces_per_node * pool.nodes:,} EFA interfaces")
    zones = dict.fromkeys(zone for group in pool.node_groups for zone in group.availability_zones)
    return ", ".join([*words, *zones])


def _store(store: StoragePlan) -> str:
    size = f", {store.gib:,} GiB" if store.gib else ""
    return f"{store.kind}{size}, at {store.mount_path}"


def _price(plan: Plan) -> str:
    if plan.totals.hourly_usd is None or plan.totals.monthly_usd is None:
        return "unknown"
    return f"${plan.totals.hourly_usd:,.2f} an hour, ${plan.totals.monthly_usd:,.0f} a month on a real account"
