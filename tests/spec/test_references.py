"""Names that lead nowhere: told with the nearest word, and what hung on them is taken out so that the rest is planned."""

from typing import Any

import pytest

from gpukit.catalog import load_catalog
from gpukit.finding import Finding
from gpukit.spec.model import ClusterSpec
from gpukit.spec.parse import parse_spec
from gpukit.spec.references import check_references, zone_id_prefix, zone_is_in_region


def _check(mapping: dict[str, Any]) -> tuple[tuple[Finding, ...], ClusterSpec]:
    parsed = parse_spec(mapping)
    assert parsed.findings == ()
    assert parsed.spec is not None
    return check_references(parsed.spec, load_catalog())


def test_a_spec_without_mistakes_comes_back_as_it_is() -> None:
    parsed = parse_spec({"region": "us-east-1", "pools": {"train": {"instance_type": "g6e.xlarge"}}})
    assert parsed.spec is not None
    findings, kept = check_references(parsed.spec, load_catalog())

    assert findings == ()
    assert kept is parsed.spec


def test_an_unknown_instance_type_names_the_nearest_and_takes_out_only_its_pool() -> None:
    findings, kept = _check(
        {"pools": {"train": {"instance_type": "p5en.48xlarg"}, "serve": {"instance_type": "g6e.xlarge"}}}
    )

    assert [(f.code, f.path) for f in findings] == [("GK1007", "pools.train.instance_type")]
    assert findings[0].problem == "the instance type `p5en.48xlarg` is not in the catalogue"
    assert findings[0].fix == "did you mean `p5en.48xlarge` or `p5e.48xlarge` or `p5.48xlarge`?"
    assert list(kept.pools) == ["serve"]


def test_one_unknown_type_among_several_leaves_the_others() -> None:
    findings, kept = _check({"pools": {"serve": {"instance_types": ["g6e.xlarge", "g6x.xlarge"]}}})

    assert [f.path for f in findings] == ["pools.serve.instance_types[1]"]
    assert kept.pools["serve"].instance_types == ["g6e.xlarge"]


def test_a_pool_loses_a_name_that_leads_nowhere_and_is_still_planned() -> None:
    findings, kept = _check(
        {
            "region": "us-east-1",
            "pools": {
                "train": {
                    "instance_type": "g6e.xlarge",
                    "image": "pytroch",
                    "cooling_zone": "hall-b",
                    "zones": ["us-east-1a", "eu-west-1a"],
                }
            },
            "images": {"pytorch": {}},
            "cooling_zones": {"hall-a": {"method": "air"}},
        }
    )

    assert [(f.code, f.fix) for f in findings] == [
        ("GK1009", "did you mean `hall-a`?"),
        ("GK1008", "did you mean `pytorch`?"),
        ("GK1012", "name a zone of `us-east-1`, or change the region"),
    ]
    pool = kept.pools["train"]
    assert (pool.image, pool.cooling_zone, pool.zones) == (None, None, ["us-east-1a"])


def test_an_unknown_region_is_told_and_zones_are_not_judged_by_it() -> None:
    findings, kept = _check(
        {"region": "us-esat-1", "pools": {"train": {"instance_type": "g6e.xlarge", "zones": ["us-east-1a"]}}}
    )

    assert [f.code for f in findings] == ["GK1011"]
    assert kept.region is None


def test_a_data_repository_that_is_no_bucket_is_told_with_its_kind() -> None:
    findings, kept = _check(
        {
            "pools": {"train": {"instance_type": "g6e.xlarge"}},
            "storage": {"home": {"kind": "efs"}, "scratch": {"kind": "lustre", "data_repository": "home"}},
        }
    )

    assert [f.problem for f in findings] == ["the store `home` is of kind efs, not s3"]
    assert kept.storage["scratch"].data_repository is None


def test_a_phase_keeps_the_pools_that_exist() -> None:
    findings, kept = _check(
        {
            "pools": {"train": {"instance_type": "g6e.xlarge"}},
            "phases": {"one": {"pools": ["train", "tune"], "hours": 1}, "two": {"pools": ["tune"], "hours": 1}},
        }
    )

    assert [f.path for f in findings] == ["phases.one.pools[1]", "phases.two.pools[0]"]
    assert {name: phase.pools for name, phase in kept.phases.items()} == {"one": ["train"]}


def test_a_helper_pool_may_name_no_type_and_a_gpu_pool_must() -> None:
    findings, kept = _check({"pools": {"system": {"role": "system"}, "train": {}}})

    assert [(f.code, f.path) for f in findings] == [("GK1017", "pools.train")]
    assert list(kept.pools) == ["system"]


@pytest.mark.parametrize(
    ("zone", "region", "fits"),
    [
        pytest.param("us-east-1a", "us-east-1", True, id="zone-name"),
        pytest.param("us-east-1-dfw-2a", "us-east-1", True, id="local-zone"),
        pytest.param("use1-az4", "us-east-1", True, id="zone-id"),
        pytest.param("use1-dfw2-az1", "us-east-1", True, id="local-zone-id"),
        pytest.param("apse2-az1", "ap-southeast-2", True, id="zone-id-of-sydney"),
        pytest.param("us-east-1", "us-east-1", False, id="a-region-is-no-zone"),
        pytest.param("us-east-11", "us-east-1", False, id="a-digit-is-no-zone-letter"),
        pytest.param("us-east-2a", "us-east-1", False, id="neighbour-region"),
        pytest.param("use2-az1", "us-east-1", False, id="zone-id-of-the-neighbour"),
        pytest.param("us-east-1aa", "us-east-1", False, id="two-letters"),
    ],
)
def test_a_zone_belongs_to_the_region_that_its_name_or_id_says(zone: str, region: str, fits: bool) -> None:
    assert zone_is_in_region(zone, region) is fits


def test_zone_id_prefixes_are_those_of_the_catalogues_zones() -> None:
    wrong = [
        f"{region.name}: {zone.id}"
        for region in load_catalog().regions()
        for zone in load_catalog().zones(region.name)
        if not zone.id.startswith(zone_id_prefix(region.name) + "-")
    ]

    assert wrong == []
