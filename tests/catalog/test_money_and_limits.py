"""Prices, Capacity Block prices, UltraServers, limits."""

import pytest

from gpukit.catalog import Catalog, UnknownName


def test_a_capacity_block_price_is_found_by_region(catalog: Catalog) -> None:
    fact = catalog.capacity_block_usd_per_hour("p5en.48xlarge", "us-east-1")

    assert fact is not None
    assert (fact.value, fact.unit, fact.as_of) == (54.92, "USD/hour", "2026-08-01")


def test_a_capacity_block_price_of_another_region_is_unknown_not_assumed(catalog: Catalog) -> None:
    assert catalog.capacity_block_usd_per_hour("p5en.48xlarge", "eu-north-1") is None


def test_an_instance_of_an_ultraserver_costs_its_share(catalog: Catalog) -> None:
    one = catalog.capacity_block_usd_per_hour("p6e-gb200.36xlarge", "us-east-1")
    whole = catalog.capacity_block_usd_per_hour("u-p6e-gb200x72", "us-east-1")

    assert one is not None
    assert whole is not None
    assert one.value * 18 == pytest.approx(whole.value)
    assert one.doubts.startswith("1/18 of u-p6e-gb200x72")


def test_capacity_block_prices_add_up_per_gpu(catalog: Catalog) -> None:
    for row in catalog.capacity_block_prices():
        assert row.usd_per_hour == pytest.approx(row.usd_per_hour_per_gpu * row.gpus, rel=0.001), row.name


def test_capacity_block_prices_name_what_exists(catalog: Catalog) -> None:
    regions = {region.name for region in catalog.regions()} | {"*"}
    for row in catalog.capacity_block_prices():
        assert set(row.regions) <= regions
        if row.kind == "ultraserver":
            assert catalog.ultraserver(row.name).gpus == row.gpus
        else:
            assert catalog.instance_type(row.name).gpu_count == row.gpus
        for zone in row.zones:
            assert catalog.zone(zone).region in row.regions


def test_ultraservers_are_whole_instances(catalog: Catalog) -> None:
    for server in catalog.ultraservers():
        instance = catalog.instance_type(server.instance_type)
        assert server.gpus == server.instances * instance.gpu_count
        assert server.racks == server.gpus / 72
        if server.vcpu is not None:
            assert server.vcpu == server.instances * instance.vcpu
        if server.memory_gib is not None and instance.memory_gib is not None:
            assert server.memory_gib == server.instances * instance.memory_gib


def test_fourteen_racks_hold_a_thousand_gb200(catalog: Catalog) -> None:
    server = catalog.ultraserver_of("p6e-gb200.36xlarge")

    assert server is not None
    assert (server.name, 14 * server.instances, 14 * server.gpus) == ("u-p6e-gb200x72", 252, 1008)


def test_types_outside_racks_have_no_ultraserver(catalog: Catalog) -> None:
    assert catalog.ultraserver_of("p5en.48xlarge") is None


@pytest.mark.parametrize(
    ("id", "usd"),
    [
        ("eks-cluster-hour", 0.10),
        ("nat-gateway-hour", 0.045),
        ("interface-endpoint-hour", 0.01),
        ("kms-key-month", 1.0),
        ("ec2/m7i.xlarge", 0.2016),
        ("ebs-gp3-gb-month", 0.08),
    ],
)
def test_prices_that_every_cluster_pays(id: str, usd: float, catalog: Catalog) -> None:
    assert catalog.price(id).usd == usd


def test_every_helper_type_has_a_price_and_offers(catalog: Catalog) -> None:
    for helper in catalog.helper_types():
        assert catalog.on_demand_usd_per_hour(helper.name, "us-east-1") is not None
        assert catalog.zones_offering(helper.name, "us-east-1"), helper.name
        assert 2 <= helper.vcpu <= 64


@pytest.mark.parametrize("name", ["m7i.xlarge", "m7i.2xlarge", "c7i.4xlarge", "m7g.xlarge"])
def test_helper_types_that_presets_name(name: str, catalog: Catalog) -> None:
    assert catalog.helper_type(name).name == name


def test_on_demand_prices_are_known_for_their_region_only(catalog: Catalog) -> None:
    fact = catalog.on_demand_usd_per_hour("p5en.48xlarge", "us-east-1")

    assert fact is not None
    assert (fact.value, fact.as_of) == (63.296, "2026-07-20")
    assert catalog.on_demand_usd_per_hour("p5en.48xlarge", "eu-west-1") is None
    assert catalog.on_demand_usd_per_hour("p6e-gb200.36xlarge", "us-east-1") is None


def test_limits_have_a_number_or_a_rule_in_words(catalog: Catalog) -> None:
    for limit in catalog.limits():
        assert limit.value is not None or limit.value_text or limit.rule or limit.doubts or limit.what, limit.id
        assert limit.scope, limit.id
        assert limit.value is None or limit.unit, limit.id


@pytest.mark.parametrize(
    ("id", "value", "scope", "code"),
    [
        ("eni-per-region", 5000, "region", "L-DF5E4CA3"),
        ("eks-mng-nodes", 450, "node-group", "L-BD136A63"),
        ("cb-instances", 64, "capacity-block", ""),
        ("cb-total", 256, "organization", ""),
        ("vcpu-od-p", 0, "region", "L-417A185B"),
        ("fsx-p2-cap", 100800, "region", "L-8F1B9C74"),
        ("ebs-gp3-storage", 50, "region", "L-7A658B76"),
        ("nau", 64000, "vpc", "L-BB24F6E5"),
    ],
)
def test_limits_that_a_thousand_gpus_meet(id: str, value: float, scope: str, code: str, catalog: Catalog) -> None:
    limit = catalog.limit(id)

    assert (value, scope, code) == (limit.value, limit.scope, limit.quota_code)


def test_a_zero_quota_is_zero_and_not_unknown(catalog: Catalog) -> None:
    """New accounts may launch no P instance at all: that is a number."""
    assert catalog.limit("vcpu-od-p").value == 0
    assert catalog.limit("vcpu-spot-p5").value is None


@pytest.mark.parametrize(
    "ask",
    [
        pytest.param(lambda c: c.limit("eni-per-regio"), id="limit"),
        pytest.param(lambda c: c.price("nat-gateway-hours"), id="price"),
        pytest.param(lambda c: c.gpu_model("H20O"), id="GPU model"),
        pytest.param(lambda c: c.storage_offer("fsxl-p2-ssd-efa-501"), id="storage offer"),
        pytest.param(lambda c: c.ultraserver("u-p6e-gb200x73"), id="UltraServer"),
        pytest.param(lambda c: c.helper_type("m7i.xlarg"), id="helper type"),
        pytest.param(lambda c: c.source("moto-5.2.4"), id="source"),
        pytest.param(lambda c: c.region("us-east-11"), id="region"),
        pytest.param(lambda c: c.capacity_block_rule("max-instances-per-blok"), id="rule"),
    ],
)
def test_every_unknown_name_gets_a_near_one(ask: object, catalog: Catalog) -> None:
    with pytest.raises(UnknownName, match="did you mean"):
        ask(catalog)  # type: ignore[operator]
