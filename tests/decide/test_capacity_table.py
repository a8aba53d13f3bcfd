"""
Every capacity mode x EFA x reservation kind x nodes, planned whole and held against the table in `docs/architecture.md`.

The expectations are written here a second time on purpose: a slip in the data would otherwise agree with itself.
"""

import itertools
from dataclasses import dataclass
from typing import Any

import pytest

from gpukit.plan import NodeGroupPlan, Plan
from gpukit.planning import plan_from_mapping

ARN = "arn:aws:resource-groups:us-east-1:111122223333:group/gpu"
NODES = (1, 2, 3, 16, 63, 64, 65, 128, 129, 450)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One combination."""

    mode: str
    efa: bool
    reservation: str
    nodes: int

    @property
    def id(self) -> str:
        return f"{self.mode}-{'efa' if self.efa else 'tcp'}-{self.reservation}-{self.nodes}"


def _cases() -> list[Any]:
    kinds = {
        "on-demand": ("none",),
        "spot": ("none",),
        "reserved": ("none", "id", "group", "resource-group"),
        "capacity-block": ("none", "id"),
    }
    made = [
        Case(mode=mode, efa=efa, reservation=kind, nodes=nodes)
        for mode, efa, nodes in itertools.product(kinds, (False, True), NODES)
        for kind in kinds[mode]
    ]
    return [pytest.param(case, id=case.id) for case in made]


def _plan(case: Case) -> Plan:
    capacity: dict[str, Any] = {"mode": case.mode}
    if case.reservation in ("id", "group"):
        step = 64 if case.mode == "capacity-block" else 100
        sizes = [min(step, case.nodes - start) for start in range(0, case.nodes, step)]
        capacity["reservations"] = [
            {"id": f"cr-{index:017x}", "nodes": size, "availability_zone": "us-east-1a"}
            | ({"placement_group": "theirs"} if case.reservation == "group" else {})
            for index, size in enumerate(sizes)
        ]
    if case.reservation == "resource-group":
        capacity["reservation_group_arn"] = ARN
    pool = {
        "instance_type": "p5en.48xlarge",
        "nodes": case.nodes,
        "efa": case.efa,
        "zones": ["us-east-1a"],
        "capacity": capacity,
    }
    made = plan_from_mapping({"region": "us-east-1", "pools": {"train": pool}}).plan
    assert made is not None
    return made


def _placement(case: Case, group: NodeGroupPlan) -> tuple[bool, bool]:
    """Return whether a placement group is named, and whether the plan makes it."""
    if case.mode == "on-demand" and case.efa and case.nodes >= 2:
        return True, True
    return (case.mode == "reserved" and case.reservation == "group"), False


@pytest.mark.parametrize("case", _cases())
def test_the_capacity_table_decides_every_node_group(case: Case) -> None:
    made = _plan(case)
    groups = made.pools[0].node_groups
    fixed = case.mode in ("reserved", "capacity-block")

    assert sum(group.instances for group in groups) == case.nodes
    for group in groups:
        named, owned = _placement(case, group)
        assert (group.placement_group is not None, group.owns_placement_group) == (named, owned)
        assert group.min_instances <= group.instances <= group.max_instances
        assert (group.update.surge > 0) is (case.mode == "on-demand")
        assert (group.capacity.quota is not None) is (not fixed)
        assert group.capacity.market_type == ({"capacity-block": "capacity-block", "spot": "spot"}.get(case.mode))
        assert group.capacity.eks_capacity_type == {"spot": "SPOT", "capacity-block": "CAPACITY_BLOCK"}.get(
            case.mode, "ON_DEMAND"
        )
        assert (group.capacity.reservation_id is not None) is (case.reservation in ("id", "group"))
        assert group.capacity.reservation_group_arn == (ARN if case.reservation == "resource-group" else None)
        assert (group.efa_interfaces > 0) is case.efa
        if case.mode == "capacity-block":
            assert group.instances == group.min_instances == group.max_instances
            assert group.instances <= 64
        else:
            assert group.instances <= 450
    # groups, never nodes: a block of 64 or a group of 450 is one resource
    per_group = 64 if case.mode == "capacity-block" else 100 if case.reservation in ("id", "group") else 450
    assert len(groups) == -(-case.nodes // per_group)


@pytest.mark.parametrize("case", _cases())
def test_only_modes_that_consume_a_vcpu_quota_have_a_counted_line(case: Case) -> None:
    lines = {line.id: line for line in _plan(case).limits if line.id.startswith("vcpu-")}
    counted = [line for line in lines.values() if line.verdict != "not-counted"]

    assert bool(counted) is (case.mode in ("on-demand", "spot"))
    assert sum(line.used or 0 for line in counted) == (192 * case.nodes if counted else 0)
