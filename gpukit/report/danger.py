"""
Decide which steps are dangerous: what people must not find out about after the merge.

Dangerous are: replacing or deleting what `danger.csv` lists, updates that drain nodes (`rolling_updates.csv`), node
groups that shrink, and anything protected that the program wants gone.
"""

import csv
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files
from typing import Any, Final

from gpukit.report.change import Action, Change, ResourceStep
from gpukit.report.property_paths import ABSENT, parse_path, value_at

GPU_AMI_MARKS: Final = ("NVIDIA", "NEURON")
"""In EKS's AMI types of accelerated images. Source: EKS API Reference, Nodegroup amiType, 2026-08."""

NODE_GROUP_SUBJECT: Final = "node group"


class Harm(StrEnum):
    """What the step does to the thing."""

    REPLACED = "replaced"
    DELETED = "deleted"
    ROLLED = "rolled node by node"
    RESTARTED = "stopped and started"
    SHRUNK = "shrunk"
    FORGOTTEN = "left behind in the cloud"


@dataclass(frozen=True, slots=True, kw_only=True)
class Danger:
    """One step that needs a decision, with everything the decision needs."""

    step: ResourceStep
    subject: str
    harm: Harm
    nodes: int | None
    """Nodes that drain; None where it is no group of nodes or the number is unknown."""
    loses: str
    weight: int
    """Larger is worse; sorts the list."""
    causes: tuple[str, ...] = ()
    """Property paths that bring it about."""
    hint: str = ""


def find_dangers(change: Change, *, gpu_types: Collection[str] = ()) -> tuple[Danger, ...]:
    """Return all dangers, worst first, then by URN. `gpu_types` are instance types that carry GPUs."""
    dangers = [danger for step in change.steps if (danger := _judge(step, change, gpu_types)) is not None]
    return tuple(sorted(dangers, key=lambda danger: (-danger.weight, danger.step.type_token, danger.step.urn)))


def nodes_of(step: ResourceStep, *, after: bool = False) -> int | None:
    """Return the nodes that a node group or instance stands for on one side; None where unknown or none."""
    properties = step.after if after else step.before
    if step.type_token == "aws:ec2/instance:Instance":
        return 1
    for path in ("scalingConfig.desiredSize", "desiredCapacity"):
        size = value_at(properties, path)
        if isinstance(size, (int, float)) and not isinstance(size, bool):
            return int(size)
    return None


def is_gpu_node_group(step: ResourceStep, gpu_types: Collection[str] = ()) -> bool:
    """Tell whether a node group is made of GPU nodes, by its image, taints, labels or instance types."""
    for properties in (step.before, step.after):
        if any(mark in str(properties.get("amiType", "")) for mark in GPU_AMI_MARKS):
            return True
        taints = properties.get("taints")
        if isinstance(taints, list) and any(isinstance(t, dict) and t.get("key") == "nvidia.com/gpu" for t in taints):
            return True
        labels = properties.get("labels")
        if isinstance(labels, dict) and any(str(key).startswith("nvidia.com/") for key in labels):
            return True
        types = properties.get("instanceTypes", properties.get("instanceType"))
        if gpu_types and any(kind in gpu_types for kind in (types if isinstance(types, list) else [types])):
            return True
    return False


@cache
def danger_table() -> dict[str, tuple[str, int, str]]:
    """Return subject, weight and what is lost by type token, from `danger.csv`."""
    with files("gpukit.report").joinpath("danger.csv").open(encoding="utf-8") as lines:
        return {
            row["type_token"]: (row["subject"], int(row["weight"]), row["what_is_lost"])
            for row in csv.DictReader(lines)
        }


@cache
def rolling_table() -> dict[str, dict[str, str]]:
    """Return what an in-place update of a property does to nodes, by type token and property."""
    table: dict[str, dict[str, str]] = {}
    with files("gpukit.report").joinpath("rolling_updates.csv").open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            table.setdefault(row["type_token"], {})[row["property"]] = row["what_happens"]
    return table


def _judge(step: ResourceStep, change: Change, gpu_types: Collection[str]) -> Danger | None:
    subject, weight, loses = danger_table().get(step.type_token, ("", 0, ""))
    if subject in (NODE_GROUP_SUBJECT, "instance") and is_gpu_node_group(step, gpu_types):
        subject, weight = f"GPU {subject}", weight + 5
    if step.action in (Action.REPLACE, Action.DELETE, Action.FORGET):
        if not subject and not step.protected:
            return None
        return _loss(step, change, subject or "protected resource", weight or 40, loses)
    if step.action is Action.UPDATE and subject:
        return _drain(step, subject, weight)
    return None


def _loss(step: ResourceStep, change: Change, subject: str, weight: int, loses: str) -> Danger:
    replaced = step.action is Action.REPLACE
    hints = []
    if step.protected:
        hints.append("it is protected: the engine will refuse until `protect` is false")
    if step.retained or step.action is Action.FORGET:
        hints.append("retain on delete: the old one stays in the cloud, costs on, and nobody manages it")
    if not replaced and (twin := _renamed_twin(step, change)):
        hints.append(f"{twin} has the same inputs: if this is a rename, add an alias and nothing is lost")
    forgotten = step.action is Action.FORGET or (step.retained and not replaced)
    return Danger(
        step=step,
        subject=subject,
        causes=step.forced_by,
        harm=Harm.FORGOTTEN if forgotten else (Harm.REPLACED if replaced else Harm.DELETED),
        nodes=nodes_of(step),
        loses="" if forgotten else loses,
        weight=weight // 2 if forgotten else weight,
        hint="; ".join(hints),
    )


def _drain(step: ResourceStep, subject: str, weight: int) -> Danger | None:
    rolling = rolling_table().get(step.type_token, {})
    causes = [change for change in step.changes if not change.computed and _rolls(change.path, rolling)]
    before, after = nodes_of(step), nodes_of(step, after=True)
    if causes and before != 0:
        return Danger(
            step=step,
            subject=subject,
            harm=Harm.ROLLED if subject.endswith(NODE_GROUP_SUBJECT) else Harm.RESTARTED,
            causes=tuple(change.path for change in causes),
            nodes=before,
            loses=rolling[_rolls(causes[0].path, rolling)],
            weight=weight - 30,
        )
    if before is not None and after is not None and after < before and subject.endswith(NODE_GROUP_SUBJECT):
        return Danger(
            step=step,
            subject=subject,
            harm=Harm.SHRUNK,
            causes=("scalingConfig.desiredSize",),
            nodes=before - after,
            loses=f"{before - after} of {before} nodes and the jobs on them",
            weight=weight - 20,
        )
    return None


def _rolls(path: str, rolling: dict[str, str]) -> str:
    """Return the table's property that a changed path is, contains or lies in; "" for none."""
    parts = parse_path(path)
    for prop in rolling:
        wanted = parse_path(prop)
        if parts[: len(wanted)] == wanted or wanted[: len(parts)] == parts:
            return prop
    return ""


def _renamed_twin(step: ResourceStep, change: Change) -> str:
    """Return the name of a resource that is created with the inputs of the one that goes; "" for none."""
    gone = _comparable(step.before)
    if not gone:
        return ""
    twins: list[tuple[bool, int, str]] = []
    for other in change.steps:
        if other.action is not Action.CREATE or other.type_token != step.type_token:
            continue
        new = _comparable(other.after)
        shared = [key for key in gone if new.get(key, ABSENT) == gone[key]]
        if len(shared) * 3 >= 2 * max(len(gone), len(new)):
            # `train-2` is rather the old `learn-2` than the old `learn-1`.
            same_end = other.name.rsplit("-", 1)[-1] == step.name.rsplit("-", 1)[-1]
            twins.append((not same_end, -len(shared), other.name))
    return min(twins)[2] if twins else ""


def _comparable(properties: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a rename changes by itself: names, tags, and values that are ids of other new things."""
    skipped = ("name", "nodeGroupName", "nodeGroupNamePrefix", "tags", "tagsAll", "labels", "launchTemplate")
    return {key: value for key, value in properties.items() if key not in skipped}
