"""Storage is sized from the workload, in increments that AWS sells."""

import pytest

from gpukit.catalog import Catalog
from gpukit.decide.storage import StorageNeed, automatic_metadata_iops, choose_lustre, measure_need
from gpukit.spec.model import Precision, WorkloadSpec

from .conftest import Planner


def test_a_checkpoint_of_70e9_parameters_needs_16_gb_a_second() -> None:
    need = measure_need(WorkloadSpec(parameters=70e9, checkpoint_seconds=60.0), gpus=8)

    assert need.gb_s == pytest.approx(70e9 * 14 / 60 / 1e9)
    assert "980 GB" in need.because


def test_precision_changes_the_bytes_of_a_checkpoint() -> None:
    need = measure_need(WorkloadSpec(parameters=1e9, precision=Precision.FP32, checkpoint_seconds=1.0), gpus=1)

    assert need.gb_s == pytest.approx(16.0)


def test_reading_counts_when_it_is_more_than_writing() -> None:
    need = measure_need(WorkloadSpec(parameters=1e9, read_mb_s_per_gpu=1000.0), gpus=1000)

    assert need.gb_s == 1000.0


def test_without_a_workload_the_assumption_is_told() -> None:
    assert "assumed" in measure_need(None, gpus=64).because


@pytest.mark.parametrize(
    ("gib", "gb_s", "efa_clients", "expected"),
    [
        pytest.param(1000, 0.1, False, (1200, 125, False), id="smallest"),
        pytest.param(3000, 0.5, False, (4800, 125, False), id="capacity-decides"),
        pytest.param(1000, 2.0, False, (2400, 1000, False), id="throughput-decides"),
        pytest.param(10_000, 40.0, True, (43_200, 1000, True), id="efa-increments"),
    ],
)
def test_the_cheapest_legal_offer_is_chosen(
    catalog: Catalog, gib: float, gb_s: float, efa_clients: bool, expected: tuple[int, int, bool]
) -> None:
    choice = choose_lustre(StorageNeed(gib=gib, gb_s=gb_s, because=""), efa_clients=efa_clients, catalog=catalog)

    assert choice is not None
    assert (choice.gib, choice.offer.tier_mb_s_per_tib, choice.offer.efa) == expected


@pytest.mark.parametrize("gb_s", [0.5, 3.0, 9.0, 20.0, 60.0, 90.0])
@pytest.mark.parametrize("gib", [100, 5_000, 50_000])
def test_every_choice_meets_the_need_and_is_legal(catalog: Catalog, gib: float, gb_s: float) -> None:
    choice = choose_lustre(StorageNeed(gib=gib, gb_s=gb_s, because=""), efa_clients=True, catalog=catalog)

    assert choice is not None
    assert choice.gib >= gib
    assert choice.gb_s >= gb_s
    assert choice.offer.is_legal_gib(choice.gib)


def test_what_the_user_typed_is_kept(plan: Planner) -> None:
    made = plan(
        {
            "pools": {"train": {"instance_type": "g5.xlarge"}},
            "storage": {"scratch": {"kind": "lustre", "gib": 4800, "throughput_tier": 250}},
        }
    )

    assert (made.storage[0].gib, made.storage[0].tier_mb_s_per_tib) == (4800, 250)


def test_an_existing_file_system_is_not_sized_or_priced(plan: Planner) -> None:
    made = plan(
        {
            "pools": {"train": {"instance_type": "g5.xlarge"}},
            "storage": {"scratch": {"kind": "lustre", "existing": "fs-0123456789abcdef0"}},
        }
    )

    assert (made.storage[0].existing_id, made.storage[0].usd_per_hour) == ("fs-0123456789abcdef0", None)
    assert not any("scratch" in line.subject for line in made.costs)


@pytest.mark.parametrize(
    ("gib", "iops"), [(1200, 1500), (2400, 3000), (9600, 6000), (43_200, 12_000), (48_000, 24_000), (96_000, 48_000)]
)
def test_automatic_metadata_iops(catalog: Catalog, gib: int, iops: int) -> None:
    assert automatic_metadata_iops(gib, catalog) == iops
