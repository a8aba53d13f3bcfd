"""A user's settings are laid over a preset key by key."""

import pytest

from gpukit.spec.merge import merge_mappings


@pytest.mark.parametrize(
    ("base", "over", "merged"),
    [
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}, id="nested"),
        pytest.param({"a": [1, 2]}, {"a": [3]}, {"a": [3]}, id="lists-replace"),
        pytest.param({"a": {"b": 1}}, {"a": None}, {}, id="null-removes"),
        pytest.param({"a": 1}, {"a": {"b": 2}}, {"a": {"b": 2}}, id="mapping-over-value"),
        pytest.param({}, {"a": {"b": None}}, {"a": {}}, id="null-in-new-mapping"),
    ],
)
def test_merging(base: dict[str, object], over: dict[str, object], merged: dict[str, object]) -> None:
    assert merge_mappings(base, over) == merged


def test_a_new_capacity_mode_drops_the_reservations_of_the_old_one() -> None:
    base = {"capacity": {"mode": "capacity-block", "reservations": [{"nodes": 64}]}}

    assert merge_mappings(base, {"capacity": {"mode": "on-demand"}}) == {"capacity": {"mode": "on-demand"}}


def test_the_same_capacity_mode_keeps_what_the_preset_says() -> None:
    base = {"capacity": {"mode": "reserved", "nodes": 4}}

    assert merge_mappings(base, {"capacity": {"nodes": 8}}) == {"capacity": {"mode": "reserved", "nodes": 8}}


def test_merging_changes_neither_side() -> None:
    base = {"a": {"b": 1}}
    merge_mappings(base, {"a": {"c": 2}})

    assert base == {"a": {"b": 1}}


@pytest.mark.parametrize("over", [{"instance_types": ["g5.xlarge"]}, {"ultraserver": "u-p6e-gb200x72"}])
def test_another_way_to_name_the_type_takes_the_place_of_the_presets(over: dict[str, object]) -> None:
    assert merge_mappings({"instance_type": "p5.48xlarge", "nodes": 8}, over) == {"nodes": 8, **over}
