"""What a drill writes down, and the page that shows it."""

import re
from datetime import date

import pytest
from gpukit_sandbox.drill.page import render_page, render_table
from gpukit_sandbox.drill.preset_stack import PlanHasErrors, PlanRefused, plan_preset
from gpukit_sandbox.drill.record import Host, Picture, PromiseBroken, Record
from gpukit_sandbox.errors import PartFailed

TODAY = date(2026, 12, 1)


def silent(_line: str) -> None:
    pass


def broken_record() -> Record:
    record = Record(preset="multi-node", gpus=16, nodes=2)
    with record.step("nodes join", silent) as step:
        step.result = "2 GPU nodes"
    with pytest.raises(PromiseBroken), record.step("job", silent):
        raise PromiseBroken("it did not run", where="workload x", why="<script>alert(1)</script>")
    record.pictures.append(
        Picture(
            title="now",
            hosts=(
                Host(name="a", zone="hall", rack="r1", job="team/x", ready=True),
                Host(name="b", zone="hall", rack="r2", job="", ready=False),
            ),
        )
    )
    return record


def test_the_first_broken_promise_is_kept_with_its_place() -> None:
    record = broken_record()

    assert (record.ok, record.broken, record.where) == (False, "job: it did not run", "workload x")
    assert [step.ok for step in record.steps] == [True, False]
    assert record.to_json()["steps"][1]["result"] == "it did not run"


def test_a_part_that_ends_is_told_by_its_name() -> None:
    record = Record(preset="p", gpus=1, nodes=1)
    with pytest.raises(PartFailed), record.step("job", silent):
        raise PartFailed("etcd ended by itself", why="its last lines")

    assert record.broken == "job: etcd ended by itself"
    assert record.why == "its last lines"


def test_the_page_needs_no_network_and_no_script_and_lets_none_in() -> None:
    page = render_page(broken_record())

    assert re.findall(r"https?:|<script|<link|<img|@import", page) == []
    assert "&lt;script&gt;" in page


def test_the_page_colours_hosts_by_job_and_names_idle_and_failed_ones() -> None:
    page = render_page(broken_record())

    assert "team/x (1)" in page
    assert "failed (1)" in page
    assert page.count("class=rack>") == 2


def test_the_table_marks_what_broke() -> None:
    lines = render_table(broken_record()).splitlines()

    assert lines[0].split() == ["step", "seconds", "at", "result"]
    assert "BROKEN: it did not run" in lines[2]


def test_a_preset_on_capacity_blocks_gets_one_reservation_for_each_group() -> None:
    stack = plan_preset("thousand-card", gpus=None, today=TODAY)
    groups = [group for pool in stack.plan.pools for group in pool.node_groups]

    assert [group.instances for group in groups] == [64, 64]
    assert len({group.capacity.reservation_id for group in groups}) == 2
    assert all(group.capacity.reservation_id for group in groups)
    assert stack.plan.protect is False


def test_racks_keep_a_reservation_each() -> None:
    stack = plan_preset("thousand-card-liquid", gpus=None, today=TODAY)
    groups = stack.plan.pools[0].node_groups

    assert (len(groups), {group.instances for group in groups}) == (14, {18})
    assert len({group.capacity.reservation_id for group in groups}) == 14


def test_another_number_of_gpus_is_another_number_of_nodes() -> None:
    assert plan_preset("multi-node", gpus=32, today=TODAY).plan.totals.nodes == 4


@pytest.mark.parametrize(
    ("preset", "gpus", "kind", "why"),
    [
        pytest.param("nope", None, PlanRefused, "does not exist", id="unknown-preset"),
        pytest.param("single-node", None, PlanRefused, "workstation", id="no-cluster"),
        pytest.param("multi-node", 12, PlanRefused, "p5.48xlarge has 8", id="half-a-node"),
    ],
)
def test_what_a_drill_cannot_use_is_refused_before_anything_starts(
    preset: str, gpus: int | None, kind: type[PlanRefused], why: str
) -> None:
    with pytest.raises(kind, match=why) as refusal:
        plan_preset(preset, gpus=gpus, today=TODAY)

    assert refusal.value.exit_code == 2
    assert PlanHasErrors.exit_code == 1
