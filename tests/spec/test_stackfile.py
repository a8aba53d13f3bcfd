"""Files, stacks and presets become one mapping with the place of every key."""

from pathlib import Path

import pytest

from gpukit.stackfile import parse_set, read_file, read_mapping, read_preset, read_text

STACK = """config:
  aws:region: us-west-2
  gpukit:preset: multi-node
  gpukit:cluster:
    pools:
      train:
        nodes: 4
"""


def test_a_pulumi_stack_file_is_merged_over_its_preset() -> None:
    given = read_text(STACK, file="Pulumi.staging.yaml")

    assert given.findings == ()
    assert (given.preset, given.region) == ("multi-node", "us-west-2")
    assert given.mapping["pools"]["train"]["nodes"] == 4
    assert given.mapping["pools"]["train"]["instance_type"] == "p5.48xlarge"


def test_a_key_is_placed_in_the_users_file_and_its_neighbour_in_the_preset() -> None:
    given = read_text(STACK, file="Pulumi.staging.yaml")
    own, preset = given.locate("pools.train.nodes"), given.locate("pools.train.instance_type")

    assert own is not None
    assert preset is not None
    assert (own.file, own.line) == ("Pulumi.staging.yaml", 7)
    assert preset.file == "presets/multi-node.yaml"


def test_a_missing_key_is_placed_at_its_parent() -> None:
    place = read_text(STACK, file="Pulumi.staging.yaml").locate("pools.train.nodes.min")

    assert place is not None
    assert place.line == 7


def test_a_cluster_file_names_its_preset_beside_its_sections() -> None:
    given = read_text("preset: single-node\nregion: eu-west-1\n", file="cluster.yaml")

    assert (given.preset, given.region) == ("single-node", "eu-west-1")
    assert "preset" not in given.mapping


def test_an_unknown_preset_is_told_with_the_nearest() -> None:
    finding = read_text("preset: thousand-cart\n", file="cluster.yaml").findings[0]

    assert (finding.code, finding.fix) == ("GK1006", "did you mean `thousand-card`?")
    assert finding.position is not None
    assert finding.position.line == 1


def test_a_missing_file_is_a_finding(tmp_path: Path) -> None:
    finding = read_file(tmp_path / "nothing.yaml").findings[0]

    assert finding.code == "GK1001"
    assert "No such file" in finding.problem


def test_a_file_that_is_no_text_is_a_finding(tmp_path: Path) -> None:
    file = tmp_path / "cluster.yaml"
    file.write_bytes(b"\xff\xfe\x00")

    assert read_file(file).findings[0].code == "GK1001"


def test_a_teams_own_preset_is_found_beside_the_stack_file(tmp_path: Path) -> None:
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "ours.yaml").write_text("environment: ours\n")
    file = tmp_path / "cluster.yaml"
    file.write_text("preset: ours\n")

    assert read_file(file).mapping == {"environment": "ours"}


def test_set_changes_one_key_after_everything_else() -> None:
    given = read_preset("thousand-card", sets=("pools.train.nodes=64", "pools.train.capacity.mode=on-demand"))

    assert given.mapping["pools"]["train"]["nodes"] == 64
    assert given.mapping["pools"]["train"]["capacity"] == {"mode": "on-demand"}


@pytest.mark.parametrize("text", ["nodes", "=4", "a=[1"])
def test_a_set_without_form_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"form|readable"):
        parse_set(text)


def test_pulumi_configuration_wins_over_the_preset() -> None:
    given = read_mapping({"environment": "qa"}, preset="single-node", region="eu-west-1")

    assert (given.mapping["environment"], given.mapping["region"]) == ("qa", "eu-west-1")


@pytest.mark.parametrize(
    ("key", "fix"),
    [
        pytest.param("gpukit:clsuter", "did you mean `gpukit:cluster`?", id="cluster"),
        pytest.param("gpukit:presett", "did you mean `gpukit:preset`?", id="preset"),
        pytest.param("aws:regoin", "did you mean `aws:region`?", id="region"),
    ],
)
def test_a_misspelt_config_key_is_told_and_not_swallowed(key: str, fix: str) -> None:
    given = read_text(f"config:\n  gpukit:preset: single-node\n  {key}: x\n", file="Pulumi.dev.yaml")
    finding = next(finding for finding in given.findings if finding.code == "GK1002")

    assert (finding.path, finding.fix) == (key, fix)
    assert finding.position is not None
    assert finding.position.line == 3


def test_config_keys_of_others_are_left_alone() -> None:
    text = "config:\n  gpukit:preset: single-node\n  aws:profile: mine\n  app:secret: x\n"

    assert read_text(text, file="Pulumi.dev.yaml").findings == ()


def test_two_regions_in_one_stack_are_told() -> None:
    text = STACK.replace("    pools:", "    region: eu-west-1\n    pools:")
    finding = read_text(text, file="Pulumi.staging.yaml").findings[0]

    assert (finding.code, finding.path) == ("GK1003", "region")
    assert "eu-west-1" in finding.problem
    assert "us-west-2" in finding.problem
