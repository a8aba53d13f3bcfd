"""GPU instance types: plausible by themselves, complete by reference, equal to what the API says."""

import re
from typing import Any

import pytest

from gpukit.catalog import Catalog, UnknownName, load_catalog
from gpukit.catalog.hardware import InstanceType

TYPES = load_catalog().instance_types()
each_type = pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in TYPES])
sold_types = pytest.mark.parametrize(
    "row", [pytest.param(row, id=row.name) for row in TYPES if row.status in {"current", "previous"}]
)
FAMILIES = [
    "p3",
    "p3dn",
    "p4d",
    "p4de",
    "p5",
    "p5e",
    "p5en",
    "p6-b200",
    "p6-b300",
    "p6e-gb200",
    "p6e-gb300",
    "p6e-gb300r",
    "g4dn",
    "g5",
    "g5g",
    "g6",
    "g6e",
    "g6f",
    "gr6",
    "gr6f",
    "g7",
    "g7e",
]


def test_all_families_are_there(catalog: Catalog) -> None:
    assert set(FAMILIES) <= {row.family for row in catalog.instance_types()}


def test_at_least_45_types_can_be_bought(catalog: Catalog) -> None:
    assert len([row for row in catalog.instance_types() if row.status in {"current", "previous"}]) >= 45


@each_type
def test_numbers_are_plausible(row: InstanceType, catalog: Catalog) -> None:
    assert row.name.startswith(f"{row.family}.")
    assert 2 <= row.vcpu <= 256
    assert row.memory_gib is None or 8 <= row.memory_gib <= 8192
    assert 0 < row.gpu_count <= 16
    assert row.gpu_count < 1 or row.gpu_count == int(row.gpu_count)
    assert 2 <= row.gpu_memory_gb_each <= 300
    assert row.network_gbps is None or 5 <= row.network_gbps <= 6400
    assert row.network_gbps_baseline is None or row.network_gbps_baseline <= (row.network_gbps or 0)
    assert row.network_cards is None or 1 <= row.network_cards <= 33
    assert row.architecture in {"x86_64", "arm64"}
    assert row.hypervisor in {"nitro", "xen", "bare-metal"}
    assert row.capacity_block in {"yes", "no", "only", ""}
    assert row.status in {"current", "previous", "legacy", "announced"}
    assert set(row.placement_group_strategies) <= {"cluster", "partition", "spread"}
    assert row.usd_per_hour_on_demand is None or 0.1 < row.usd_per_hour_on_demand < 500
    assert (row.usd_per_hour_on_demand is None) == (row.price_as_of == "")
    assert row.max_efa_interfaces is None or 0 <= row.max_efa_interfaces <= 32


@each_type
def test_its_gpu_is_known_and_agrees(row: InstanceType, catalog: Catalog) -> None:
    gpu = catalog.gpu_model(row.gpu_model)

    assert row.liquid_only == gpu.liquid_only
    assert row.family in gpu.aws_families
    if row.gpu_count >= 1:
        assert row.gpu_memory_gb_each == pytest.approx(gpu.memory_gb, rel=0.01)
    else:
        assert row.gpu_memory_gb_each == pytest.approx(gpu.memory_gb * row.gpu_count, rel=0.01)
    assert gpu.cooling


@each_type
def test_a_quota_code_is_known_or_doubted(row: InstanceType) -> None:
    for code in (row.quota_code_on_demand, row.quota_code_spot):
        assert code == "" or re.fullmatch(r"L-[0-9A-F]{8}", code)
    if not row.quota_code_on_demand:
        assert "quota code" in row.doubts
    if row.spot and not row.quota_code_spot:
        assert "spot quota code" in row.doubts


@each_type
def test_a_quota_code_leads_to_a_limit(row: InstanceType, catalog: Catalog) -> None:
    codes = {limit.quota_code for limit in catalog.limits()}

    assert {row.quota_code_on_demand, row.quota_code_spot} - {""} <= codes


@sold_types
def test_a_type_that_is_sold_is_complete_or_says_why_not(row: InstanceType, catalog: Catalog) -> None:
    assert catalog.network_cards(row.name)
    assert catalog.node_power_kw(row.name) is not None
    assert row.memory_gib is not None
    assert catalog.offerings_known(row.name)
    assert catalog.regions_offering(row.name)
    if row.usd_per_hour_on_demand is None:
        assert catalog.capacity_block_usd_per_hour(row.name, "us-east-1") is not None
        assert row.doubts


@each_type
def test_a_legacy_or_announced_type_says_why(row: InstanceType) -> None:
    if row.status in {"legacy", "announced"}:
        assert row.doubts


@each_type
def test_what_the_api_knows_is_what_the_row_says(row: InstanceType, api_dump: dict[str, Any]) -> None:
    told = api_dump.get(row.name)
    if told is None:
        assert row.family in {"p2", "p3", "p6e-gb200", "p6e-gb300", "p6e-gb300r"}
        return
    network, ebs, gpu = told["NetworkInfo"], told["EbsInfo"], told["GpuInfo"]["Gpus"][0]

    assert row.vcpu == told["VCpuInfo"]["DefaultVCpus"]
    assert row.memory_gib == told["MemoryInfo"]["SizeInMiB"] / 1024
    assert row.architecture in told["ProcessorInfo"]["SupportedArchitectures"]
    assert row.network_cards == network["MaximumNetworkCards"]
    assert row.max_enis == network["MaximumNetworkInterfaces"]
    assert row.ipv4_per_eni == network["Ipv4AddressesPerInterface"]
    assert (
        row.default_card_max_enis
        == network["NetworkCards"][network["DefaultNetworkCardIndex"]]["MaximumNetworkInterfaces"]
    )
    assert row.max_efa_interfaces == network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    assert row.local_nvme_gb == told.get("InstanceStorageInfo", {}).get("TotalSizeInGB", 0)
    assert row.ebs_mbps_max == ebs["EbsOptimizedInfo"]["MaximumBandwidthInMbps"]
    assert set(row.placement_group_strategies) == set(told["PlacementGroupInfo"]["SupportedStrategies"])
    assert row.spot == ("spot" in told["SupportedUsageClasses"])
    assert (row.capacity_block in {"yes", "only"}) == ("capacity-block" in told["SupportedUsageClasses"])
    if row.gpu_count >= 1:
        assert row.gpu_count == gpu["Count"]
    else:
        assert row.gpu_count == gpu["GpuPartitionSize"]


@each_type
def test_max_pods_is_the_formula_of_eks(row: InstanceType) -> None:
    if row.max_pods is not None and row.default_card_max_enis and row.ipv4_per_eni:
        assert row.max_pods == row.default_card_max_enis * (row.ipv4_per_eni - 1) + 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        pytest.param("p5en.48xlarge", ("H200", 8, 192, 16), id="thousand-card"),
        pytest.param("p6e-gb200.36xlarge", ("GB200", 4, 144, 17), id="liquid"),
        pytest.param("g5.xlarge", ("A10G", 1, 4, 1), id="workstation"),
        pytest.param("g6f.large", ("L4", 0.125, 2, 1), id="an eighth of a GPU"),
    ],
)
def test_types_that_presets_name(name: str, expected: tuple[str, float, int, int], catalog: Catalog) -> None:
    row = catalog.instance_type(name)

    assert expected == (row.gpu_model, row.gpu_count, row.vcpu, row.network_cards)


def test_a_thousand_h200_are_an_exascale_cluster(catalog: Catalog) -> None:
    flops = catalog.gpu_model(catalog.instance_type("p5en.48xlarge").gpu_model).dense_bf16_tflops

    assert flops is not None
    assert round(1024 * flops / 1000) == 1013


def test_an_unknown_type_is_told_with_its_nearest_names(catalog: Catalog) -> None:
    with pytest.raises(UnknownName) as caught:
        catalog.instance_type("p5en.48xlarg")

    assert caught.value.near[0] == "p5en.48xlarge"
    assert str(caught.value).startswith("unknown instance type `p5en.48xlarg`; did you mean `p5en.48xlarge`")


def test_a_name_like_nothing_gets_no_guess(catalog: Catalog) -> None:
    with pytest.raises(UnknownName) as caught:
        catalog.instance_type("zzzz" * 500)

    assert caught.value.near == ()
    assert "did you mean" not in str(caught.value)
    assert "p5en.48xlarge" in caught.value.valid
