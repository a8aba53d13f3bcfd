"""Storage offers: steps of capacity, rates, prices."""

import pytest

from gpukit.catalog import Catalog


@pytest.mark.parametrize(
    ("id", "wanted", "legal"),
    [
        pytest.param("fsxl-p2-ssd-efa-125", 1, 38400, id="EFA 125"),
        pytest.param("fsxl-p2-ssd-efa-250", 19201, 38400, id="EFA 250"),
        pytest.param("fsxl-p2-ssd-efa-500", 10000, 19200, id="EFA 500"),
        pytest.param("fsxl-p2-ssd-efa-1000", 4800, 4800, id="EFA 1000"),
        pytest.param("fsxl-p2-ssd-500", 1, 1200, id="smallest"),
        pytest.param("fsxl-p2-ssd-500", 1300, 2400, id="second"),
        pytest.param("fsxl-p2-ssd-500", 2401, 4800, id="multiples of 2,400"),
        pytest.param("fsxl-p2-ssd-500", 0, 1200, id="nothing still needs the smallest"),
    ],
)
def test_capacity_is_rounded_up_to_a_legal_step(id: str, wanted: float, legal: int, catalog: Catalog) -> None:
    offer = catalog.storage_offer(id)

    assert legal == offer.round_up_gib(wanted)
    assert offer.is_legal_gib(legal)


@pytest.mark.parametrize(
    ("id", "gib", "legal"),
    [
        ("fsxl-p2-ssd-efa-500", 4800, False),
        ("fsxl-p2-ssd-efa-500", 9600, True),
        ("fsxl-p2-ssd-500", 3600, False),
        ("fsxl-p2-ssd-500", 0, False),
        ("fsxl-p2-ssd-500", -2400, False),
        ("fsxl-scratch1", 3600, True),
        ("s3-standard", 5, None),
    ],
)
def test_legal_capacities(id: str, gib: int, legal: bool | None, catalog: Catalog) -> None:
    assert legal is catalog.storage_offer(id).is_legal_gib(gib)


def test_every_lustre_tier_is_known_with_and_without_efa(catalog: Catalog) -> None:
    tiers = {
        (offer.tier_mb_s_per_tib, offer.efa)
        for offer in catalog.storage_offers("lustre")
        if offer.deployment_type == "PERSISTENT_2" and offer.storage_class == "SSD"
    }

    assert tiers == {(tier, efa) for tier in (125, 250, 500, 1000) for efa in (True, False)}


def test_lustre_offers_are_complete(catalog: Catalog) -> None:
    for offer in catalog.storage_offers("lustre"):
        if offer.storage_class == "INTELLIGENT_TIERING":
            assert offer.usd is not None
            continue
        assert offer.increment_gib
        assert offer.disk_mb_s_per_tib
        assert offer.usd_per_gb_month
        assert offer.price_as_of or "price" in offer.doubts, offer.id


def test_kinds_are_those_of_the_stack_file(catalog: Catalog) -> None:
    assert {offer.kind for offer in catalog.storage_offers()} <= {
        "lustre",
        "efs",
        "s3",
        "ebs",
        "local-nvme",
        "mountpoint",
    }


def test_offers_of_a_kind_are_only_of_it(catalog: Catalog) -> None:
    assert {offer.kind for offer in catalog.storage_offers("efs")} == {"efs"}
    assert catalog.storage_offers("tape") == ()


def test_automatic_metadata_iops_cover_all_capacities_in_order(catalog: Catalog) -> None:
    rows = [
        row for row in catalog.metadata_iops() if row.file_system_type == "PERSISTENT_2 SSD" and row.mode == "AUTOMATIC"
    ]

    assert [row.key_min for row in rows] == [1200, 2400, 4800, 12000, 48000]
    assert [row.metadata_iops for row in rows] == [1500, 3000, 6000, 12000, None]
    assert rows[-1].rule
