"""Subnets are sized from what the plan puts into them."""

import ipaddress
from typing import Any

import pytest

from gpukit.plan import Plan
from gpukit.planning import plan_from_preset

from .conftest import Planner


def _preset(name: str, *sets: str) -> Plan:
    result = plan_from_preset(name, sets=sets)
    assert result.plan is not None
    return result.plan


@pytest.mark.parametrize("nodes", [2, 8, 64, 128, 400])
def test_every_subnet_holds_what_is_needed_and_none_overlap(nodes: int) -> None:
    made = _preset("thousand-card", f"pools.train.nodes={nodes}", "pools.train.capacity.mode=on-demand")
    networks = [ipaddress.IPv4Network(subnet.cidr) for subnet in made.network.subnets]

    assert all(
        s.usable_addresses is not None and s.usable_addresses >= s.needed_addresses for s in made.network.subnets
    )
    assert not any(a.overlaps(b) for i, a in enumerate(networks) for b in networks[:i])
    assert all(network.subnet_of(ipaddress.IPv4Network(made.network.cidr)) for network in networks)


def test_a_pool_with_efa_stays_in_one_zone_and_one_subnet() -> None:
    """skypilot#10056: nodes over several zones cannot talk by EFA."""
    for name in ("multi-node", "thousand-card", "thousand-card-liquid"):
        groups = _preset(name).pools[0].node_groups
        assert len({group.subnet for group in groups}) == 1
        assert all(len(group.subnets) == 1 for group in groups)


def test_every_subnet_of_a_group_exists() -> None:
    for name in ("single-node", "multi-node", "thousand-card", "thousand-card-liquid"):
        made = _preset(name)
        known = {subnet.name for subnet in made.network.subnets}
        assert all(set(group.subnets) <= known for pool in made.all_pools for group in pool.node_groups), name


def test_gpu_nodes_are_private() -> None:
    """terraform-aws-eks#3533: EFA nodes in a public subnet do not join."""
    made = _preset("thousand-card")
    roles = {subnet.name: subnet.role for subnet in made.network.subnets}

    assert {roles[group.subnet] for pool in made.all_pools for group in pool.node_groups} == {"gpu", "system"}


def test_a_closed_network_has_no_nat_and_all_endpoints() -> None:
    made = _preset("multi-node", "network.egress=endpoints")

    assert made.network.nat_gateways == 0
    assert {"ecr.api", "ecr.dkr", "s3", "sts", "ec2", "eks"} <= set(made.network.endpoints)
    assert not any(subnet.role == "public" for subnet in made.network.subnets)


def test_an_existing_network_is_used_as_it_is(plan: Planner) -> None:
    subnets: dict[str, Any] = {"us-east-1a": "subnet-0123456789abcdef0", "us-east-1b": "subnet-0123456789abcdef1"}
    made = plan(
        {
            "network": {"existing": {"vpc_id": "vpc-0123456789abcdef0", "subnets": subnets}},
            "pools": {"train": {"instance_type": "p4d.24xlarge", "nodes": 2}},
        }
    )

    assert (made.network.existing_vpc_id, made.network.nat_gateways) == ("vpc-0123456789abcdef0", 0)
    assert {subnet.existing_id for subnet in made.network.subnets} == set(subnets.values())


def test_a_spot_pool_looks_for_capacity_in_every_zone_that_has_it(plan: Planner) -> None:
    made = plan({"pools": {"eval": {"instance_type": "g5.xlarge", "nodes": 4, "capacity": {"mode": "spot"}}}})

    assert len(made.pools[0].node_groups[0].availability_zones) > 1


@pytest.mark.parametrize(
    ("preset", "grown"),
    [
        pytest.param("multi-node", "pools.system.nodes=3", id="one-more-system-node"),
        pytest.param("multi-node", "pools.train.nodes=16", id="twice-the-gpu-nodes"),
        pytest.param("multi-node", "pools.train.nodes=128", id="sixteen-times-the-gpu-nodes"),
        pytest.param("thousand-card", "pools.train.nodes=192", id="half-a-thousand-gpus-more"),
    ],
)
def test_growing_a_pool_moves_no_subnet(preset: str, grown: str) -> None:
    """A subnet with another block is replaced, with every node and file system in it."""
    before = {subnet.name: subnet.cidr for subnet in _preset(preset).network.subnets}
    after = {subnet.name: subnet.cidr for subnet in _preset(preset, grown).network.subnets}

    assert before == after
