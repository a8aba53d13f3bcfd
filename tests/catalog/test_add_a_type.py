"""One row in an overrides folder makes an instance type usable; one cell changes a price."""

from pathlib import Path

import pytest

from gpukit.catalog import Catalog, load_catalog

HEADER = (
    "name,family,vcpu,memory_gib,gpu_model,gpu_count,gpu_memory_gb_each,architecture,network_cards,max_efa_interfaces,"
    "efa_on_card0,default_card_max_enis,liquid_only,status,usd_per_hour_on_demand,price_as_of,source,as_of"
)
ROW = "p9.48xlarge,p9,192,4096,B300,8,288,x86_64,9,8,no,4,no,announced,199.5,2026-12-01,our-contract,2026-12-01"


@pytest.fixture
def extended(tmp_path: Path) -> Catalog:
    (tmp_path / "instance_types.csv").write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")
    return load_catalog(tmp_path)


def test_the_type_is_there_beside_all_others(extended: Catalog, catalog: Catalog) -> None:
    assert extended.instance_type("p9.48xlarge").gpu_count == 8
    assert len(extended.instance_types()) == len(catalog.instance_types()) + 1


def test_what_the_row_does_not_say_is_unknown(extended: Catalog) -> None:
    row = extended.instance_type("p9.48xlarge")

    assert row.max_enis is None
    assert row.spot is None
    assert row.capacity_block == ""
    assert not extended.offerings_known("p9.48xlarge")


def test_its_network_layout_follows_from_the_row(extended: Catalog) -> None:
    cards = extended.network_cards("p9.48xlarge")

    assert [card.index for card in cards if card.efa_default] == list(range(1, 9))
    assert cards[0].interface_types == ("interface",)
    assert all("uniform" in card.doubts for card in cards)


def test_its_power_follows_from_its_parts(extended: Catalog) -> None:
    fact = extended.node_power_kw("p9.48xlarge")

    assert fact is not None
    assert fact.value == pytest.approx((8 * 1400 + 192 * 3.5 + 4096 * 0.392) * 1.5 / 1000, abs=0.001)
    assert fact.doubts.startswith("estimate: (8 x 1400 W")


def test_its_price_and_date_are_told(extended: Catalog) -> None:
    fact = extended.on_demand_usd_per_hour("p9.48xlarge", "us-east-1")

    assert fact is not None
    assert (fact.value, fact.source, fact.as_of) == (199.5, "our-contract", "2026-12-01")


def test_a_second_row_says_where_it_is_offered(tmp_path: Path) -> None:
    (tmp_path / "instance_types.csv").write_text(f"{HEADER}\n{ROW}\n", encoding="utf-8")
    (tmp_path / "instance_offerings.csv").write_text(
        "instance_type,region,zone_ids,source,as_of\np9.48xlarge,us-east-1,use1-az4|use1-az6,our-contract,2026-12-01\n",
        encoding="utf-8",
    )
    extended = load_catalog(tmp_path)

    assert extended.regions_offering("p9.48xlarge") == ("us-east-1",)
    assert extended.zones_offering("p9.48xlarge", "us-east-1") == ("us-east-1b", "us-east-1c")


def test_a_known_row_changes_only_in_the_cells_that_are_filled(tmp_path: Path, catalog: Catalog) -> None:
    (tmp_path / "instance_types.csv").write_text(
        "name,usd_per_hour_on_demand,price_as_of,vcpu\np5en.48xlarge,50,2026-11-30,\n", encoding="utf-8"
    )
    changed = load_catalog(tmp_path).instance_type("p5en.48xlarge")
    shipped = catalog.instance_type("p5en.48xlarge")

    assert (changed.usd_per_hour_on_demand, changed.price_as_of) == (50, "2026-11-30")
    assert (changed.vcpu, changed.source) == (shipped.vcpu, shipped.source)


def test_a_quota_that_was_raised_is_one_cell(tmp_path: Path) -> None:
    (tmp_path / "limits.csv").write_text("id,value\nvcpu-od-p,24576\n", encoding="utf-8")

    assert load_catalog(tmp_path).limit("vcpu-od-p").value == 24576


def test_overrides_do_not_leak_into_the_shipped_catalogue(extended: Catalog) -> None:
    assert extended.has_instance_type("p9.48xlarge")
    assert not load_catalog().has_instance_type("p9.48xlarge")
