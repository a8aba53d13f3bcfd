"""The digest reader: one step per resource, properties side by side, nothing called fine that did not finish."""

import json

import pytest

from gpukit.report.change import UNKNOWN, Action, ReplaceOrder, UnreadablePreview
from gpukit.report.engine_digest import parse_engine_digest
from tests.report.digests import GPU_GROUP, NODE_GROUP, STACK, TOTALS, digest, step
from tests.report.digests import UNKNOWN as MARK


def test_a_replacement_in_three_steps_is_one_with_its_order() -> None:
    change = parse_engine_digest(
        digest(
            step("create-replacement", NODE_GROUP, "train-a", old=GPU_GROUP, new={**GPU_GROUP, "amiType": "X"},
                 detailed={"amiType": "update-replace"}, replace=["amiType"]),
            step("replace", NODE_GROUP, "train-a", old=GPU_GROUP, new={**GPU_GROUP, "amiType": "X"},
                 detailed={"amiType": "update-replace"}, replace=["amiType"]),
            step("delete-replaced", NODE_GROUP, "train-a", old=GPU_GROUP),
        )
    )  # fmt: skip

    assert [one.action for one in change.steps] == [Action.REPLACE]
    assert change.steps[0].forced_by == ("amiType",)
    assert change.steps[0].order is ReplaceOrder.CREATE_FIRST


def test_delete_before_create_is_told_apart() -> None:
    change = parse_engine_digest(
        digest(
            step("delete-replaced", NODE_GROUP, "train-a", old=GPU_GROUP),
            step("replace", NODE_GROUP, "train-a", old=GPU_GROUP, new=GPU_GROUP, replace=["name"]),
            step("create-replacement", NODE_GROUP, "train-a", old=GPU_GROUP, new=GPU_GROUP),
        )
    )

    assert change.steps[0].order is ReplaceOrder.DELETE_FIRST
    assert change.steps[0].forced_by == ("name",)


def test_a_single_replace_step_leaves_the_order_open() -> None:
    change = parse_engine_digest(
        digest(step("replace", NODE_GROUP, "a", old=GPU_GROUP, new={**GPU_GROUP, "amiType": "X"}, replace=["amiType"]))
    )

    assert change.steps[0].order is ReplaceOrder.NOT_SAID
    assert [item.path for item in change.steps[0].changes] == ["amiType"]
    assert change.steps[0].changes[0].forces_replacement


def test_a_difference_of_a_whole_object_is_split_into_its_parts() -> None:
    new = {**GPU_GROUP, "launchTemplate": {"id": "lt-1", "version": "2"}}
    change = parse_engine_digest(
        digest(step("update", NODE_GROUP, "a", old=GPU_GROUP, new=new, detailed={"launchTemplate": "update"}))
    )

    assert [(c.path, c.before, c.after) for c in change.steps[0].changes] == [("launchTemplate.version", "1", "2")]


def test_the_mark_of_an_unknown_value_becomes_unknown() -> None:
    new = {**GPU_GROUP, "subnetIds": [MARK]}
    change = parse_engine_digest(
        digest(step("update", NODE_GROUP, "a", old={**GPU_GROUP, "subnetIds": ["s"]}, new=new))
    )

    assert change.steps[0].changes[0].after is UNKNOWN


def test_numbers_before_come_from_the_outputs_of_the_state() -> None:
    assert parse_engine_digest(digest(totals=TOTALS)).before.gpus == 512
    assert parse_engine_digest(digest(op="create")).before.gpus == 0
    assert parse_engine_digest(digest(op="create")).after.gpus is None


def test_stack_and_project_are_read_from_the_urn() -> None:
    change = parse_engine_digest(digest())

    assert (change.stack, change.project) == ("prod", "demo")
    assert change.is_empty
    assert change.complete


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(digest(diagnostics=[{"severity": "error", "message": "boom"}]), id="error-diagnostic"),
        pytest.param(json.dumps({"steps": [{"op": "same", "urn": STACK}]}), id="no-summary"),
        pytest.param(digest(maybeCorrupt=True), id="maybe-corrupt"),
    ],
)
def test_a_preview_that_did_not_end_well_is_incomplete(text: str) -> None:
    assert not parse_engine_digest(text).complete


def test_a_protect_flag_that_falls_is_an_update() -> None:
    change = parse_engine_digest(digest(step("same", NODE_GROUP, "a", old=GPU_GROUP, new=GPU_GROUP, protect=True)))

    assert [(c.path, c.before, c.after) for c in change.steps[0].changes] == [("(option) protect", True, False)]


def test_warnings_around_the_document_are_skipped() -> None:
    assert parse_engine_digest("warning: a new version\n" + digest() + "\nbye").complete


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("", "holds no JSON object", id="empty"),
        pytest.param('{"steps": [', "not whole JSON", id="cut-off"),
        pytest.param('{"a": 1}', "no preview digest", id="other-json"),
        pytest.param('{"steps": [{"op": "same"}]}', "steps\\[0\\] has no", id="no-urn"),
        pytest.param('{"steps": {"a": 1}, "changeSummary": {}}', "is a dict", id="wrong-kind"),
        pytest.param("[" * 100_000, "holds no JSON object", id="deep"),
        pytest.param('{"steps":' + "[" * 100_000, "not whole JSON", id="deep-inside"),
    ],
)
def test_what_is_no_digest_is_refused_in_words(text: str, says: str) -> None:
    with pytest.raises(UnreadablePreview, match=says):
        parse_engine_digest(text)
