"""Regions, zones and offerings; energy by region."""

import pytest

from gpukit.catalog import Catalog, UnknownName


def test_every_offering_names_a_type_and_zones_that_exist(catalog: Catalog) -> None:
    known = {row.name for row in catalog.instance_types()} | {row.name for row in catalog.helper_types()}
    for name in catalog._offers_by_type:
        assert name in known
        for region, row in catalog._offerings(name).items():
            ids = {zone.id for zone in catalog.zones(region)}
            assert set(row.zone_ids) <= ids, (name, region)
            assert row.zone_ids or row.doubts, (name, region)


def test_every_zone_belongs_to_a_region(catalog: Catalog) -> None:
    regions = {region.name for region in catalog.regions()}
    for zone in catalog._zones_by_id.values():
        assert zone.region in regions
        assert zone.name.startswith(zone.region)
        assert zone.kind in {"availability-zone", "local-zone"}


def test_zone_names_are_unique(catalog: Catalog) -> None:
    names = [zone.name for zone in catalog._zones_by_id.values()]

    assert sorted(set(names)) == sorted(names)


def test_a_zone_is_found_by_name_and_by_id(catalog: Catalog) -> None:
    by_name = catalog.zone("us-east-1a")

    assert catalog.zone(by_name.id) == by_name


@pytest.mark.parametrize("word", ["us-east-1z", "use1-az99"])
def test_an_unknown_zone_is_told(word: str, catalog: Catalog) -> None:
    with pytest.raises(UnknownName, match=f"unknown zone `{word}`"):
        catalog.zone(word)


def test_an_unknown_region_has_no_zones_but_an_error(catalog: Catalog) -> None:
    with pytest.raises(UnknownName, match="did you mean `us-east-1`"):
        catalog.zones("us-eats-1")


def test_the_liquid_racks_stand_in_the_dallas_local_zone(catalog: Catalog) -> None:
    assert catalog.zones_offering("p6e-gb200.36xlarge", "us-east-1") == ("us-east-1-dfw-2a",)
    assert catalog.zone("us-east-1-dfw-2a").kind == "local-zone"


def test_local_zones_come_after_availability_zones(catalog: Catalog) -> None:
    assert [zone.name for zone in catalog.zones("us-east-1")] == [
        "us-east-1a",
        "us-east-1b",
        "us-east-1c",
        "us-east-1d",
        "us-east-1e",
        "us-east-1f",
        "us-east-1-dfw-2a",
    ]


def test_zones_offering_are_some_of_the_regions_zones(catalog: Catalog) -> None:
    for row in catalog.instance_types():
        for region in catalog.regions_offering(row.name):
            zones = catalog.zones_offering(row.name, region)
            assert set(zones) <= {zone.name for zone in catalog.zones(region)}


def test_a_region_that_does_not_offer_a_type_has_no_zones_for_it(catalog: Catalog) -> None:
    assert "eu-west-3" not in catalog.regions_offering("p5en.48xlarge")
    assert catalog.zones_offering("p5en.48xlarge", "eu-west-3") == ()


def test_nothing_known_is_told_apart_from_nowhere(catalog: Catalog) -> None:
    assert catalog.offerings_known("p5en.48xlarge")
    assert not catalog.offerings_known("p6e-gb300.36xlarge")


def test_every_region_with_dumped_zones_has_energy_and_efficiency(catalog: Catalog) -> None:
    for region in catalog.regions():
        if catalog.zones(region.name):
            row = catalog.energy(region.name)
            assert row is not None, region.name
            assert row.carbon() is not None, region.name
            assert catalog.pue(region.name) is not None, region.name


def test_carbon_and_efficiency_are_plausible(catalog: Catalog) -> None:
    for row in catalog._energy.values():
        carbon = row.carbon()
        if carbon is not None:
            assert 10 <= carbon.value <= 950, row.region
            assert carbon.doubts, "a factor without its basis cannot be compared"
        assert row.pue is None or 1.0 < row.pue < 2.0, row.region


def test_carbon_prefers_the_finer_figure(catalog: Catalog) -> None:
    """Calgary stands on the grid of Alberta, far from the Canadian average."""
    row = catalog.energy("ca-west-1")

    assert row is not None
    carbon = row.carbon()
    assert carbon is not None
    assert (carbon.value, carbon.unit) == (row.grid_gco2_kwh, "gCO2e/kWh")
    assert carbon.value != row.alt_gco2_kwh


def test_carbon_tells_its_basis_where_only_one_figure_is_known(catalog: Catalog) -> None:
    row = catalog.energy("us-east-1")

    assert row is not None
    carbon = row.carbon()
    assert carbon is not None
    assert carbon.value == 244.8
    assert carbon.doubts.startswith("eGRID2023 state output rate, virginia")


def test_energy_of_nowhere_is_unknown(catalog: Catalog) -> None:
    assert catalog.energy("mars-north-1") is None
    assert catalog.pue("mars-north-1") is None
