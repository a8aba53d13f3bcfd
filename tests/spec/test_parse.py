"""Every mistake in a mapping is told at once, with what to write instead."""

import pytest

from gpukit.finding import Finding
from gpukit.spec.model import CapacityMode
from gpukit.spec.parse import parse_spec


def _findings(mapping: object) -> dict[str, Finding]:
    return {finding.path: finding for finding in parse_spec(mapping).findings}


def test_an_empty_mapping_is_a_valid_spec() -> None:
    parsed = parse_spec({})

    assert parsed.findings == ()
    assert parsed.spec is not None
    assert parsed.spec.protect is True


def test_a_number_of_nodes_is_a_fixed_range() -> None:
    spec = parse_spec({"pools": {"train": {"nodes": 8}}}).spec

    assert spec is not None
    assert (spec.pools["train"].nodes.min, spec.pools["train"].nodes.max) == (8, 8)


def test_numbers_of_pulumi_arrive_as_floats_and_are_whole() -> None:
    spec = parse_spec({"pools": {"train": {"nodes": {"min": 0.0, "max": 8.0}}}}).spec

    assert spec is not None
    assert spec.pools["train"].nodes.max == 8
    assert isinstance(spec.pools["train"].nodes.max, int)


def test_one_capacity_source_is_a_list_of_one() -> None:
    spec = parse_spec({"pools": {"train": {"capacity": {"mode": "reserved"}}}}).spec

    assert spec is not None
    assert [source.mode for source in spec.pools["train"].capacity] == [CapacityMode.RESERVED]


def test_ten_mistakes_are_ten_findings() -> None:
    found = _findings(
        {
            "pools": {
                "train": {
                    "instance_typ": "p5.48xlarge",
                    "nodes": 8.5,
                    "capacity": {"mode": "capacity-blok", "reservations": [{"nodes": 1, "id": "block-1"}]},
                    "root_volume": {"gib": 3, "type": "gp9"},
                },
                "Bad_Name": {"nodes": 1},
            },
            "storage": {"scratch": {}},
            "network": {"cidr": "10.0.0.1/8"},
            "budget": {"hourly_usd": float("nan")},
        }
    )

    assert {path: finding.code for path, finding in found.items()} == {
        "pools.train.instance_typ": "GK1002",
        "pools.train.nodes": "GK1003",
        "pools.train.capacity.mode": "GK1003",
        "pools.train.capacity.reservations[0].id": "GK1003",
        "pools.train.root_volume.gib": "GK1003",
        "pools.train.root_volume.type": "GK1003",
        "pools.Bad_Name": "GK1003",
        "storage.scratch.kind": "GK1004",
        "network.cidr": "GK1003",
        "budget.hourly_usd": "GK1003",
    }
    assert all(finding.why and finding.fix for finding in found.values())
    assert found["pools.train.instance_typ"].fix == "did you mean `instance_type`?"
    assert found["pools.train.capacity.mode"].fix == "did you mean `capacity-block`?"


def test_a_mistake_in_one_section_leaves_the_others_readable() -> None:
    parsed = parse_spec({"budget": {"hourly_usd": "much"}, "pools": {"train": {"nodes": 4}}})

    assert parsed.spec is not None
    assert parsed.spec.pools["train"].nodes.max == 4
    assert parsed.left_out == ("budget.hourly_usd",)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param(None, id="nothing"),
        pytest.param([], id="list"),
        pytest.param("text", id="text"),
        pytest.param(7, id="number"),
    ],
)
def test_what_is_no_mapping_is_one_finding(value: object) -> None:
    parsed = parse_spec(value)

    assert parsed.spec is None
    assert [finding.code for finding in parsed.findings] == ["GK1003"]


def test_true_is_not_a_number_of_nodes() -> None:
    found = _findings({"pools": {"train": {"nodes": True}}})

    assert found["pools.train.nodes"].problem == "`true` is not a whole number"
