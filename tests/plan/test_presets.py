"""The numbers of the presets, and what a plan promises."""

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from gpukit.plan import Plan, render_plan_json
from gpukit.planning import plan_from_preset
from gpukit.spec.presets import preset_names

GOLDEN = Path(__file__).parent.parent / "golden" / "plan"
DAY = date(2026, 12, 1)


def _plan(preset: str, *sets: str) -> Plan:
    result = plan_from_preset(preset, sets=sets, today=DAY)
    assert result.plan is not None
    assert result.findings == ()
    return result.plan


@pytest.mark.parametrize("preset", preset_names())
def test_golden(preset: str, request: pytest.FixtureRequest) -> None:
    actual = render_plan_json(_plan(preset))
    file = GOLDEN / f"{preset}.json"
    if request.config.getoption("--update-golden"):
        file.write_text(actual, encoding="utf-8")
    expected = file.read_text(encoding="utf-8") if file.is_file() else ""

    assert expected == actual, "the plan changed: run `make golden`, then review the diff like code"


@pytest.mark.parametrize("preset", preset_names())
def test_two_plans_of_one_spec_are_byte_equal_in_two_processes(preset: str) -> None:
    command = [sys.executable, "-m", "gpukit", "plan", "--preset", preset, "--json", "--today", "2026-12-01"]
    runs = [
        subprocess.run(command, capture_output=True, check=False, env={"PYTHONHASHSEED": seed, "PATH": ""}).stdout
        for seed in ("1", "2")
    ]

    assert runs[0]
    assert runs[0] == runs[1]


def test_thousand_card_is_1024_gpus_on_two_blocks() -> None:
    made = _plan("thousand-card")
    totals, groups = made.totals, made.pools[0].node_groups

    assert (totals.gpus, totals.nodes, totals.node_groups, totals.efa_interfaces) == (1024, 128, 2, 2048)
    assert [group.instances for group in groups] == [64, 64]
    assert {group.placement_group for group in groups} == {None}
    assert len({group.availability_zone for group in groups}) == 1
    assert round(totals.dense_bf16_pflops or 0) == 1013


def test_thousand_card_efa_interfaces_take_no_address() -> None:
    made = _plan("thousand-card")
    taken = [
        interface.takes_address for interface in made.pools[0].node_groups[0].network_interfaces if interface.is_efa
    ]

    assert taken == [False] * 16
    assert made.pools[0].addresses_per_node == 1


def test_thousand_card_consumes_no_on_demand_quota_of_gpus() -> None:
    lines = {line.id: line for line in _plan("thousand-card").limits}

    assert lines["vcpu-od-p"].used == 0
    assert lines["vcpu-od-p"].verdict in ("fine", "not-counted")


def test_thousand_card_on_demand_has_a_placement_group_and_shows_its_quota() -> None:
    made = _plan("thousand-card", "pools.train.capacity.mode=on-demand")
    lines = {line.id: line for line in made.limits}

    assert made.pools[0].node_groups[0].placement_group == "thousand-prod-train"
    assert lines["vcpu-od-p"].used == 24_576


def test_thousand_card_liquid_is_1008_gpus_in_14_liquid_racks() -> None:
    made = _plan("thousand-card-liquid")
    zone = made.cooling_zones[0]

    assert (made.totals.gpus, made.totals.nodes, made.totals.node_groups) == (1008, 252, 14)
    assert {group.instances for group in made.pools[0].node_groups} == {18}
    assert (zone.method, zone.racks) == ("liquid", 14)
    assert made.pools[0].architecture == "arm64"
    assert made.image(made.pools[0].image).architecture == "arm64"


def test_single_node_is_one_instance_that_stops_when_idle() -> None:
    made = _plan("single-node")

    assert (made.totals.gpus, made.totals.nodes) == (1, 1)
    assert made.kubernetes is None
    assert made.workstation is not None
    assert made.workstation.idle_stop_minutes == 60
    assert made.network.ports == ()


@pytest.mark.parametrize("preset", preset_names())
def test_every_image_is_pinned(preset: str) -> None:
    for image in _plan(preset).images:
        assert image.ami_id or image.release_version or (image.ami_name and "20" in image.ami_name)
        assert "latest" not in json.dumps([image.container, image.ami_name])


@pytest.mark.parametrize("preset", preset_names())
def test_every_decision_says_why(preset: str) -> None:
    assert all(item.subject and item.choice and item.because for item in _plan(preset).decisions)


@pytest.mark.parametrize("nodes", [1, 128, 12_500])
def test_the_plan_has_groups_and_never_nodes(nodes: int) -> None:
    made = _plan("thousand-card", f"pools.train.nodes={nodes}", "pools.train.capacity.mode=on-demand")

    assert len(made.pools[0].node_groups) <= -(-nodes // 450)


def test_a_budget_in_the_stack_reaches_the_plan() -> None:
    assert _plan("multi-node").budget.hourly_usd == 500


def test_the_heat_of_the_zone_is_the_heat_of_its_nodes() -> None:
    zone = _plan("thousand-card").cooling_zones[0]

    assert zone.it_kw == pytest.approx(128 * 10.2)
    assert zone.kw_per_rack == pytest.approx(128 * 10.2 / 32)


@pytest.mark.parametrize(
    ("instance_type", "part"), [("g6f.large", 0.125), ("g6f.2xlarge", 0.25), ("gr6f.4xlarge", 0.5)]
)
def test_a_part_of_a_gpu_is_one_device_with_its_part_of_the_rate(instance_type: str, part: float) -> None:
    """No DLAMI is known to run on a part, which is a finding of its own; the plan stands all the same."""
    made = plan_from_preset("single-node", sets=(f"pools.workstation.instance_type={instance_type}",), today=DAY).plan
    assert made is not None
    whole = _plan("single-node", "pools.workstation.instance_type=g6.xlarge")

    assert made.totals.gpus == made.pools[0].gpus_per_node == 1
    assert made.totals.dense_bf16_pflops == pytest.approx((whole.totals.dense_bf16_pflops or 0) * part)
