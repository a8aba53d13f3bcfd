"""The stack of a drill: a preset as a Pulumi project of its own, with the reservations that it takes for granted already bought."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import IO, Any, Final

import yaml

from gpukit.plan import Plan
from gpukit_sandbox.bought import put_into_cloud
from gpukit_sandbox.engine import Engine
from gpukit_sandbox.errors import SandboxError
from gpukit_sandbox.sandbox import Sandbox

PROJECT: Final = "gpukit-drill"
STACK: Final = "drill"
BLOCK_DAYS: Final = 14
_PROGRAM: Final = (
    '"""The stack of the drill; written by `gpukit drill`."""\n\nfrom gpukit_components import deploy\n\ndeploy()\n'
)
_QUIET: Final = ("--suppress-progress", "--suppress-permalink")


class PlanRefused(SandboxError):
    """There is no such preset, or none that a drill can be made of. Exit code 2."""

    exit_code = 2


class PlanHasErrors(PlanRefused):
    """The preset is read, and its plan has errors. Exit code 1."""

    exit_code = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetStack:
    """A preset with what the drill adds to it, and its plan."""

    preset: str
    changes: Mapping[str, Any]
    plan: Plan


def plan_preset(preset: str, *, gpus: int | None, today: date) -> PresetStack:
    """
    Return a preset for the drill: unprotected, of the wanted size, with a reservation behind every group that needs one.

    Raises PlanRefused where the preset has errors or makes no cluster, UnknownName-like findings included.
    """
    changes: dict[str, Any] = {"protect": False}
    plan = _plan(preset, changes, today)
    if plan.kind != "cluster" or not plan.pools:
        raise PlanRefused(
            f"preset {preset} makes no cluster with GPUs",
            why=f"it is a {plan.kind}",
            fix="use multi-node, thousand-card or thousand-card-liquid",
        )
    if gpus is not None:
        changes["pools"] = {plan.pools[0].name: {"nodes": _nodes_for(plan, gpus)}}
        plan = _plan(preset, changes, today)
    pools: dict[str, Any] = changes.get("pools", {})
    for pool in plan.pools:
        reservations = [
            {
                "id": _reservation_id(preset, group.name),
                "nodes": group.max_instances,
                "availability_zone": group.availability_zone,
                "starts": today.isoformat(),
                "ends": (today + timedelta(days=BLOCK_DAYS)).isoformat(),
            }
            for group in pool.node_groups
            if group.capacity.mode in ("capacity-block", "reserved") and group.capacity.reservation_id is None
        ]
        if reservations:
            mode = pool.node_groups[0].capacity.mode
            pools[pool.name] = {**pools.get(pool.name, {}), "capacity": {"mode": mode, "reservations": reservations}}
    if pools:
        changes["pools"] = pools
    return PresetStack(preset=preset, changes=changes, plan=_plan(preset, changes, today))


class StackUnderTest:
    """The preset's stack in a sandbox."""

    def __init__(self, box: Sandbox, stack: PresetStack, *, words: IO[str] | None = None) -> None:
        """Bind both; `words` hears the engine."""
        self.box = box
        self.stack = stack
        folder = box.directory.root / "project" / PROJECT
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / "Pulumi.yaml").write_text(f"name: {PROJECT}\nruntime: python\n", encoding="utf-8")
        (folder / "__main__.py").write_text(_PROGRAM, encoding="utf-8")
        config = {
            "aws:region": stack.plan.region,
            "gpukit:preset": stack.preset,
            "gpukit:cluster": dict(stack.changes),
        }
        (folder / f"Pulumi.{STACK}.yaml").write_text(
            yaml.safe_dump({"config": config}, sort_keys=False), encoding="utf-8"
        )
        self.engine = Engine(sandbox=box, project=folder, stack=STACK, output=words)

    def buy(self) -> list[str]:
        """Put the reservations into the cloud and return a line for each."""
        return put_into_cloud(self.stack.plan, self.box.status()["endpoint"])

    def up(self) -> int:
        """Bring the stack up and return how many resources stand."""
        self.engine.select()
        self.engine.up(*_QUIET)
        return self.count()

    def destroy(self) -> None:
        """Destroy it."""
        self.engine.destroy(*_QUIET)

    def count(self) -> int:
        """Return how many resources stand, without components and providers."""
        file = self.box.directory.stacks / ".pulumi" / "stacks" / PROJECT / f"{STACK}.json"
        try:
            state = json.loads(file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return 0
        resources = ((state.get("checkpoint") or {}).get("latest") or {}).get("resources") or []
        return sum(bool(item.get("custom")) and not item["type"].startswith("pulumi:") for item in resources)


def _plan(preset: str, changes: Mapping[str, Any], today: date) -> Plan:
    from gpukit.judge import judge
    from gpukit.planning import plan_from_mapping

    result = plan_from_mapping(dict(changes), preset=preset, today=today)
    errors = [finding for finding in judge(result, today=today).findings if str(finding.severity) == "error"]
    if result.plan is None or errors:
        first = "; ".join(f"{finding.code} {finding.path}: {finding.problem}" for finding in errors[:3])
        raise (PlanRefused if result.unreadable or result.plan is None else PlanHasErrors)(
            f"preset {preset} cannot be planned",
            why=first or "it has no plan",
            fix="see `gpukit check --preset " + preset + "`",
        )
    return result.plan


def _nodes_for(plan: Plan, gpus: int) -> int:
    pool = plan.pools[0]
    nodes, rest = divmod(gpus, pool.gpus_per_node)
    if rest or not nodes:
        raise PlanRefused(
            f"{gpus} GPUs are no whole number of nodes",
            why=f"{pool.instance_type} has {pool.gpus_per_node}",
            fix=f"state a multiple of {pool.gpus_per_node}",
        )
    return nodes


def _reservation_id(preset: str, group: str) -> str:
    return f"cr-{hashlib.sha256(f'{preset}/{group}'.encode()).hexdigest()[:17]}"
