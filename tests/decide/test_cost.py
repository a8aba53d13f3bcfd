"""The bill: what is provisioned is priced, what nobody can price is a line without an amount."""

from typing import Any

import pytest

from gpukit.plan import HOURS_PER_MONTH, CostLine, Plan

from .conftest import Planner


def _stack(**more: Any) -> dict[str, Any]:
    return {"region": "us-east-1", "pools": {"train": {"instance_type": "g6e.xlarge", "nodes": 4}}} | more


def _lines(plan: Plan, part: str) -> dict[str, CostLine]:
    return {line.subject: line for line in plan.costs if part in line.subject}


@pytest.mark.parametrize(
    ("volume", "part", "quantity", "usd"),
    [
        pytest.param({"iops": 16_000}, "IOPS above 3,000", 4 * 13_000, 4 * 13_000 * 0.005, id="gp3-iops"),
        pytest.param(
            {"iops": 4_000, "throughput_mb_s": 1_000}, "above 125 MB/s", 4 * 875, 4 * 875 * 0.04, id="gp3-throughput"
        ),
        pytest.param({"type": "io2", "iops": 20_000}, ", IOPS", 4 * 20_000, 4 * 20_000 * 0.065, id="io2"),
        pytest.param({"type": "io1", "iops": 5_000}, ", IOPS", 4 * 5_000, None, id="io1-has-no-sourced-price"),
    ],
)
def test_a_root_volume_costs_what_it_is_provisioned_for(
    volume: dict[str, Any], part: str, quantity: int, usd: float | None, plan: Planner
) -> None:
    pool = {"instance_type": "g6e.xlarge", "nodes": 4, "root_volume": {"gib": 500} | volume}
    (line,) = _lines(plan(_stack(pools={"train": pool})), part).values()

    assert line.quantity == quantity
    assert line.monthly_usd == (pytest.approx(usd) if usd is not None else None)


@pytest.mark.parametrize(
    "volume",
    [
        pytest.param({}, id="nothing-stated"),
        pytest.param({"iops": 3_000, "throughput_mb_s": 125}, id="what-every-volume-has"),
    ],
)
def test_what_a_gp3_volume_has_anyway_is_no_line(volume: dict[str, Any], plan: Planner) -> None:
    pool = {"instance_type": "g6e.xlarge", "root_volume": {"gib": 500} | volume}

    assert list(_lines(plan(_stack(pools={"train": pool})), "root volumes")) == ["root volumes"]


def test_io2_above_its_first_price_is_partly_unknown(plan: Planner) -> None:
    pool = {"instance_type": "g6e.xlarge", "nodes": 2, "root_volume": {"gib": 500, "type": "io2", "iops": 40_000}}
    made = plan(_stack(pools={"train": pool}))
    lines = _lines(made, "root volumes, IOPS")

    assert [(line.quantity, line.hourly_usd is None) for line in lines.values()] == [(64_000, False), (16_000, True)]
    assert made.totals.unpriced == 1


def test_each_pool_pays_for_its_own_kind_of_root_volume(plan: Planner) -> None:
    pools = {
        "train": {"instance_type": "g6e.xlarge", "nodes": 4, "root_volume": {"gib": 200}},
        "evaluate": {"instance_type": "g6e.xlarge", "root_volume": {"gib": 300, "type": "io2", "iops": 3_000}},
    }
    lines = _lines(plan(_stack(pools=pools)), "root volumes")

    assert lines["root volumes (gp3)"].monthly_usd == pytest.approx(4 * 200 * 0.08)
    assert lines["root volumes (io2)"].monthly_usd == pytest.approx(300 * 0.125)
    assert lines["root volumes (io2), IOPS"].monthly_usd == pytest.approx(3_000 * 0.065)


def test_the_data_volume_of_a_workstation_costs_what_it_is_provisioned_for(plan: Planner) -> None:
    data = {"kind": "ebs", "gib": 1_000, "iops": 8_000, "throughput_mb_s": 500}
    made = plan(
        {"kind": "workstation"} | _stack(pools={"train": {"instance_type": "g6e.xlarge"}}, storage={"data": data})
    )
    lines = _lines(made, "storage data (EBS)")

    assert [round(line.monthly_usd or 0, 2) for line in lines.values()] == [80.0, 25.0, 15.0]
    assert made.totals.monthly_usd == pytest.approx(sum(line.monthly_usd or 0 for line in made.costs))


@pytest.mark.parametrize(
    ("stated", "above"),
    [
        pytest.param({}, None, id="automatic"),
        pytest.param({"metadata_iops": 6_000}, None, id="what-the-size-includes"),
        pytest.param({"metadata_iops": 24_000}, 18_000, id="more"),
    ],
)
def test_metadata_iops_cost_above_what_the_size_includes(
    stated: dict[str, int], above: int | None, plan: Planner
) -> None:
    store = {"kind": "lustre", "gib": 4_800, "throughput_tier": 250} | stated
    lines = list(_lines(plan(_stack(storage={"scratch": store})), "metadata IOPS").values())

    assert [line.quantity for line in lines] == ([] if above is None else [above])
    assert [line.hourly_usd for line in lines] == (
        [] if above is None else [pytest.approx(above * 0.055 / HOURS_PER_MONTH)]
    )


@pytest.mark.parametrize("kind", ["lustre", "efs"])
def test_backups_are_a_line_without_an_amount(kind: str, plan: Planner) -> None:
    without = plan(_stack(storage={"home": {"kind": kind}}))
    made = plan(_stack(storage={"home": {"kind": kind, "backup_days": 7}}))
    (line,) = _lines(made, "backups").values()

    assert line.hourly_usd is None
    assert made.totals.unpriced == without.totals.unpriced + 1


def test_what_is_there_already_costs_nothing_here(plan: Planner) -> None:
    store = {"kind": "efs", "existing": "fs-0123456789abcdef0"}

    assert _lines(plan(_stack(storage={"home": store})), "storage") == {}
