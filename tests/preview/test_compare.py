"""The offline comparison follows the engine: aliases, forced replacements, and the wave behind them."""

import json

import pytest

from gpukit.preview.compare import compare_recordings
from gpukit.preview.recording import parse_recording, render_recording
from gpukit.report.change import UNKNOWN, UNKNOWN_SENTINEL, Action, UnreadablePreview
from tests.preview.recordings import recording, resource, urn

SUBNET = "aws:ec2/subnet:Subnet"
GROUP = "aws:eks/nodeGroup:NodeGroup"
TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"


def subnet(cidr: str = "10.0.0.0/24", **more):
    return resource(SUBNET, "gpu-a", {"cidrBlock": cidr, "vpcId": "vpc-1", **more})


def group(name: str = "train-a", desired: int = 64, **inputs):
    made = {
        "clusterName": "c", "subnetIds": ["id-of-gpu-a-abc"], "scalingConfig": {"desiredSize": desired},
        "launchTemplate": {"id": "id-of-train-a-lt-abc", "version": UNKNOWN_SENTINEL}, **inputs,
    }  # fmt: skip
    return resource(
        GROUP, name, made,
        dependencies={"subnetIds": (urn(SUBNET, "gpu-a"),), "launchTemplate": (urn(TEMPLATE, "train-a-lt"),)},
    )  # fmt: skip


def template(image: str = "ami-1", **more):
    return resource(TEMPLATE, "train-a-lt", {"imageId": image, **more})


def actions(base, head) -> dict[str, Action]:
    return {step.name: step.action for step in compare_recordings(base, head).steps}


def test_without_a_base_everything_is_created() -> None:
    change = compare_recordings(None, recording(subnet(), group()))

    assert {step.action for step in change.steps} == {Action.CREATE}
    assert change.before.gpus == 0


def test_a_preview_without_a_base_says_that_it_looked_at_nothing_that_stands() -> None:
    head = recording(resource("aws:ec2/vpc:Vpc", "main", {"cidrBlock": "10.0.0.0/16"}))
    says = "Compared with nothing"

    assert any(note.startswith(says) for note in compare_recordings(None, head).notes)
    assert not any(note.startswith(says) for note in compare_recordings(head, head).notes)


def test_two_equal_recordings_have_no_difference() -> None:
    change = compare_recordings(recording(subnet(), group()), recording(subnet(), group()))

    assert change.is_empty
    assert change.unchanged == 2


def test_growing_a_group_is_an_update() -> None:
    change = compare_recordings(recording(group()), recording(group(desired=128)))

    assert [(c.path, c.before, c.after) for c in change.steps[0].changes] == [("scalingConfig.desiredSize", 64, 128)]
    assert change.steps[0].component == "GpuNodePool train"


def test_a_forcing_property_replaces_and_the_wave_reaches_what_refers_to_it() -> None:
    change = compare_recordings(recording(subnet(), group()), recording(subnet("10.0.1.0/24"), group()))
    by_name = {step.name: step for step in change.steps}

    assert by_name["gpu-a"].forced_by == ("cidrBlock",)
    assert by_name["train-a"].action is Action.REPLACE
    assert by_name["train-a"].forced_by == ("subnetIds[0]",)
    assert by_name["train-a"].changes[0].after is UNKNOWN


def test_a_new_image_moves_the_version_of_the_template_and_rolls_the_group() -> None:
    assert actions(recording(template(), group()), recording(template("ami-2"), group())) == {
        "train-a-lt": Action.UPDATE,
        "train-a": Action.UPDATE,
    }


def test_new_tags_of_a_template_move_nothing_and_tags_of_its_nodes_do() -> None:
    base = recording(template(tags={"a": "1"}), group())

    assert actions(base, recording(template(tags={"a": "2"}), group())) == {"train-a-lt": Action.UPDATE}
    base = recording(template(tagSpecifications=[{"tags": {"a": "1"}}]), group())
    head = recording(template(tagSpecifications=[{"tags": {"a": "2"}}]), group())
    assert set(actions(base, head)) == {"train-a-lt", "train-a"}


def test_an_alias_is_a_rename_and_not_a_replacement() -> None:
    head = resource(GROUP, "learn-a", group().inputs, aliases=(urn(GROUP, "train-a"),))
    change = compare_recordings(recording(group()), recording(head))

    assert [(step.action, step.renamed_from) for step in change.steps] == [(Action.UPDATE, "train-a")]


def test_what_refers_to_a_renamed_resource_stays() -> None:
    def with_subnet(name: str, **more):
        made = resource(SUBNET, name, {"cidrBlock": "10.0.0.0/24"}, **more)
        user = resource(GROUP, "g", {"subnetIds": [made.id]}, dependencies={"subnetIds": (made.urn,)})
        return recording(made, user)

    assert actions(with_subnet("old"), with_subnet("new", aliases=(urn(SUBNET, "old"),))) == {"new": Action.UPDATE}


def test_a_rename_without_alias_is_a_deletion_and_a_creation() -> None:
    assert actions(recording(group("a")), recording(group("b"))) == {"b": Action.CREATE, "a": Action.DELETE}


def test_retain_on_delete_is_forgotten_and_not_deleted() -> None:
    base = recording(resource("aws:s3/bucket:Bucket", "data", {}, retain=True))

    assert actions(base, recording()) == {"data": Action.FORGET}


def test_ignored_changes_are_ignored() -> None:
    head = resource(GROUP, "train-a", group(desired=9).inputs, ignore_changes=("scalingConfig.desiredSize",))

    assert compare_recordings(recording(group()), recording(head)).is_empty


def test_replace_on_changes_of_the_program_counts() -> None:
    head = resource(GROUP, "train-a", group(desired=9).inputs, replace_on_changes=("scalingConfig",))

    assert compare_recordings(recording(group()), recording(head)).steps[0].action is Action.REPLACE


def test_lowering_protection_is_told() -> None:
    base = recording(resource("aws:s3/bucket:Bucket", "data", {}, protect=True))
    change = compare_recordings(base, recording(resource("aws:s3/bucket:Bucket", "data", {})))

    assert [c.path for c in change.steps[0].changes] == ["(option) protect"]


def test_a_type_without_replacement_data_is_named() -> None:
    base, head = (recording(resource("aws:nobody/x:X", "x", {"a": n})) for n in (1, 2))

    assert "aws:nobody/x:X" in " ".join(compare_recordings(base, head).notes)


def test_a_recording_reads_back_as_it_was_written() -> None:
    made = recording(subnet(), group(), totals={"gpus": 8})

    assert parse_recording(render_recording(made), where="x") == made


@pytest.mark.parametrize(
    ("text", "says"),
    [("{", "not whole JSON"), ("[]", "no list `resources`"), ('{"resources": []}', "version None"),
     ('{"schema_version": 1, "resources": [{}]}', "lacks")],
)  # fmt: skip
def test_what_is_no_recording_is_refused_in_words(text: str, says: str) -> None:
    with pytest.raises(UnreadablePreview, match=says):
        parse_recording(text, where="x")


def test_the_order_of_registrations_changes_no_byte_and_no_wave() -> None:
    base = recording(template(), group(), subnet())
    head = recording(template("ami-2"), group(), subnet("10.0.1.0/24"))
    shuffled = json.loads(render_recording(head))
    shuffled["resources"].reverse()

    again = parse_recording(json.dumps(shuffled), where="head.json")

    assert render_recording(again) == render_recording(head)
    assert compare_recordings(base, again) == compare_recordings(base, head)
    assert list(actions(base, again)) == ["train-a-lt", "gpu-a", "train-a"]
    assert actions(base, again)["train-a"] is Action.REPLACE, (
        "the group comes before its subnet by URN, not in the wave"
    )


def test_a_ring_of_dependencies_in_a_file_of_hand_is_walked_once() -> None:
    one = resource(SUBNET, "a", {"vpcId": "b"}, dependencies={"vpcId": (urn(SUBNET, "b"),)})
    other = resource(SUBNET, "b", {"vpcId": "a"}, dependencies={"vpcId": (urn(SUBNET, "a"),)})

    assert list(actions(None, recording(one, other))) == ["a", "b"]
